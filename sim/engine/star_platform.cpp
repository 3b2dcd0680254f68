#include "sim/engine/star_platform.hpp"

#include <string>

#include <fmt/format.h>

namespace paceline {
namespace {

namespace sg = simgrid::s4u;

// A host on a full-duplex link of its own: what it sends and what it receives do not share bandwidth.
sg::Host* attach(sg::NetZone* zone, const std::string& name, BytesPerSecond bandwidth, Seconds link_latency) {
  // 1 flop/s: SimGrid computes nothing here, durations come from the calibrated profile.
  sg::Host* host = zone->create_host(name, 1.0);
  sg::SplitDuplexLink* link = zone->create_split_duplex_link(name + "-link", bandwidth.value());
  link->set_latency(link_latency.value());
  zone->add_route(host->get_netpoint(), nullptr, nullptr, nullptr,
                  {sg::LinkInRoute(link, sg::LinkInRoute::Direction::UP)}, true);
  return host;
}

}  // namespace

StarPlatform build_star(const Cluster& cluster) {
  sg::NetZone* zone = sg::create_star_zone("cluster");
  const Seconds half = cluster.network.latency / 2.0;  // a route crosses two links
  StarPlatform platform;
  for (std::size_t w = 0; w < cluster.workers.size(); ++w)
    platform.workers.push_back(attach(zone, fmt::format("worker-{}", w), cluster.network.bandwidth, half));
  platform.server = attach(zone, "server", cluster.network.server_bandwidth, half);
  zone->seal();
  return platform;
}

}  // namespace paceline

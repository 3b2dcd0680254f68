#include "sim/engine/simgrid/simgrid_messages.hpp"

#include <cstdint>
#include <string>
#include <utility>

#include <fmt/format.h>
#include <simgrid/kernel/Timer.hpp>
#include <simgrid/kernel/resource/NetworkModelIntf.hpp>

namespace paceline {

namespace sg = simgrid::s4u;
using sg::LinkInRoute;
using simgrid::kernel::timer::Timer;

SimGridPlatform::SimGridPlatform(JobNetwork& network) : network_(network) {
  is_star_ = star_switch(network.network()).has_value();
  if (is_star_) {
    build_star();
  } else {
    build_full();
  }
  zone_->seal();
  if (!network.model().segments.empty()) set_factors_by_size();
}

void SimGridPlatform::set_factors_by_size() {
  const auto of = [this](double MessageSegment::*factor) {
    return [&model = network_.model(), factor](double size, const auto&...) {
      return factors_of(model, Bytes{size}).*factor;
    };
  };
  zone_->get_network_model()->set_lat_factor_cb(of(&MessageSegment::latency_factor));
  zone_->get_network_model()->set_bw_factor_cb(of(&MessageSegment::bandwidth_factor));
}

sg::Host* SimGridPlatform::add_host(NodeId node) {
  // 1 flop/s: SimGrid computes nothing here, durations come from the calibrated profile.
  const auto [found, is_new] = hosts_.try_emplace(node, nullptr);
  if (is_new) found->second = zone_->create_host(fmt::format("node-{}", node.value), 1.0);
  return found->second;
}

sg::SplitDuplexLink* SimGridPlatform::add_link(EdgeId edge) {
  sg::SplitDuplexLink* link =
      zone_->create_split_duplex_link(fmt::format("edge-{}", edge.value), network_.capacity(edge).value());
  link->set_latency(network_.network().edges[edge.value].latency.value());
  duplex_links_.push_back(link);
  links_.push_back(link->get_link_up());
  links_.push_back(link->get_link_down());
  return link;
}

void SimGridPlatform::build_star() {
  zone_ = sg::create_star_zone("cluster");
  const Network& graph = network_.network();
  const NodeId hub = *star_switch(graph);
  for (std::size_t e = 0; e < graph.edges.size(); ++e) {
    const NetworkEdge& edge = graph.edges[e];
    const bool leaves_host_forward = edge.b == hub;
    const sg::Host* host = add_host(leaves_host_forward ? edge.a : edge.b);
    const auto direction = leaves_host_forward ? LinkInRoute::Direction::UP : LinkInRoute::Direction::DOWN;
    zone_->add_route(host->get_netpoint(), nullptr, nullptr, nullptr,
                     {LinkInRoute(add_link(EdgeId{e}), direction)}, true);
  }
}

void SimGridPlatform::build_full() {
  zone_ = sg::create_full_zone("cluster");
  const Network& graph = network_.network();
  for (const auto* nodes : {&graph.workers, &graph.servers})
    for (const NodeId node : *nodes) add_host(node);
  for (std::size_t e = 0; e < graph.edges.size(); ++e) add_link(EdgeId{e});
}

void SimGridPlatform::open_route(NodeId from, NodeId to) {
  if (is_star_) return;
  open_direction(from, to);
  // SimGrid looks up the way back only for cross-traffic.
  if (network_.model().cross_traffic) open_direction(to, from);
}

void SimGridPlatform::open_direction(NodeId from, NodeId to) {
  if (!open_.emplace(from, to).second) return;
  std::vector<LinkInRoute> links;
  for (const Hop& hop : network_.route(from, to).hops)
    links.emplace_back(duplex_links_[hop.edge.value],
                       hop.forward ? LinkInRoute::Direction::UP : LinkInRoute::Direction::DOWN);
  zone_->add_route(host(from)->get_netpoint(), host(to)->get_netpoint(), nullptr, nullptr, links, false);
}

void SimGridPlatform::update_bandwidth(EdgeId edge) {
  const double bandwidth = network_.capacity(edge).value();
  for (const bool forward : {true, false}) links_[direction_index({edge, forward})]->set_bandwidth(bandwidth);
}

SimGridMessages::SimGridMessages(JobNetwork& network)
    : network_(network), platform_(network), meter_(network.network()) {
  sg::Activity::on_completion_cb([this](const sg::Activity& activity) { completed(activity); });
  sg::Engine::on_time_advance_cb([this](double duration) { time_went_on(duration); });
}

const SimGridMessages::Channel& SimGridMessages::channel(NodeId from, NodeId to) {
  const auto [found, is_new] = channels_.try_emplace(from.value * network_.network().nodes.size() + to.value);
  if (is_new) {
    platform_.open_route(from, to);
    found->second = {platform_.host(from), platform_.host(to), &network_.route(from, to)};
  }
  return found->second;
}

void SimGridMessages::send(NodeId from, NodeId to, Bytes size, std::function<void()> on_arrival) {
  ++under_way_;
  if (from == to) {  // on one machine: no network
    Timer::set(sg::Engine::get_clock(), [this, on_arrival = std::move(on_arrival)] {
      --under_way_;
      if (!stopped_) on_arrival();
    });
    return;
  }
  const Channel& way = channel(from, to);
  const Bytes travelling = network_.take_burst(Seconds{sg::Engine::get_clock()}, *way.route, size);
  if (sg::Actor::is_maestro()) return start(way, size, travelling, std::move(on_arrival));
  // SimGrid 3.32 signals completion only of messages that no actor created; the pump is one.
  Timer::set(sg::Engine::get_clock(),
             [this, &way, size, travelling, on_arrival = std::move(on_arrival)]() mutable {
               start(way, size, travelling, std::move(on_arrival));
             });
}

void SimGridMessages::start(const Channel& way, Bytes size, Bytes travelling,
                            std::function<void()> on_arrival) {
  const sg::CommPtr comm = sg::Comm::sendto_init(way.from, way.to);
  comm->set_payload_size(static_cast<std::uint64_t>(travelling.value()));
  arrivals_.emplace(comm.get(), UnderWay{comm, &way, size, std::move(on_arrival)});
  meter_.message_starts(*way.route);
  comm->start();
}

void SimGridMessages::completed(const sg::Activity& activity) {
  const auto found = arrivals_.find(&activity);
  if (found == arrivals_.end()) return;
  const UnderWay arrived = std::move(found->second);
  arrivals_.erase(found);
  --under_way_;
  meter_.message_arrives(*arrived.channel->route, arrived.size);
  if (!stopped_) arrived.on_arrival();
}

void SimGridMessages::time_went_on(double duration) {
  if (stopped_) return;
  meter_.advance(
      Seconds{duration}, [this](std::size_t i) { return platform_.link(i)->get_usage(); },
      [this](std::size_t i) { return network_.capacity(direction(i).edge).value(); });
}

void SimGridMessages::update_bandwidths(const std::vector<EdgeId>& edges) {
  for (const EdgeId edge : edges) platform_.update_bandwidth(edge);
}

}  // namespace paceline

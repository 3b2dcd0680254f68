#include "sim/engine/simgrid/simgrid_platform.hpp"

#include <string>

#include <fmt/format.h>
#include <simgrid/kernel/resource/NetworkModelIntf.hpp>

#include "sim/engine/link_meter.hpp"

namespace paceline {

namespace sg = simgrid::s4u;
using sg::LinkInRoute;

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

}  // namespace paceline

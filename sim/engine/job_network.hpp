// The network as a timeline uses it: routes between workers and servers, orders of collectives, links that
// get slower.
//
// Models:      capacity of a link = its bandwidth · the smallest factor of the workers at its ends.
// Equation:    alone on its route of latency L a message has latency f_L · L and the rate
//              f_b · min(capacities; gamma / (2L) when gamma > 0), with the factors f_L and f_b of its size.
// Units:       bytes/s, seconds.
// Assumptions: orders and routes do not follow capacities.
// Source:      SimGrid's CM02 model for the factors.
#pragma once

#include <algorithm>
#include <cmath>
#include <limits>
#include <map>
#include <span>
#include <vector>

#include "sim/base/check.hpp"
#include "sim/cluster/routes.hpp"
#include "sim/engine/timeline.hpp"

namespace paceline {

class JobNetwork {
 public:
  explicit JobNetwork(const Cluster& cluster)
      : network_(build_network(cluster)),
        model_(cluster.network.model),
        routes_(network_),
        node_factors_(network_.nodes.size(), 1.0),
        worker_factors_(network_.workers.size(), 1.0) {
    check(!find_unreachable(network_), "a network in which some machines cannot reach others");
    for (const NetworkEdge& edge : network_.edges) capacities_.push_back(edge.bandwidth);
  }

  [[nodiscard]] const Network& network() const { return network_; }
  [[nodiscard]] const NetworkModel& model() const { return model_; }
  [[nodiscard]] NodeId node(Endpoint endpoint) const {
    if (const auto* worker = std::get_if<WorkerId>(&endpoint)) return network_.workers.at(worker->value);
    return network_.servers.at(std::get<ServerId>(endpoint).value);
  }
  [[nodiscard]] const Route& route(NodeId from, NodeId to) { return routes_.between(from, to); }
  // The nodes of the members in the order in which the algorithm passes data on.
  [[nodiscard]] const std::vector<NodeId>& order(Transport algorithm, std::span<const WorkerId> members) {
    const bool on_ring = algorithm == Transport::ring;
    const auto [found, is_new] = orders_.try_emplace({on_ring, {members.begin(), members.end()}});
    if (is_new)
      for (const WorkerId worker :
           on_ring ? ring_order(network_, routes_, members) : tree_order(network_, members))
        found->second.push_back(network_.workers[worker.value]);
    return found->second;
  }

  [[nodiscard]] BytesPerSecond capacity(EdgeId edge) const { return capacities_[edge.value]; }
  // Returns the edges that may have changed; none when the worker has this factor already.
  std::vector<EdgeId> set_bandwidth_factor(WorkerId worker, double factor) {
    check(std::isfinite(factor) && factor > 0.0, "a bandwidth factor must be above 0");
    const NodeId node = network_.workers.at(worker.value);
    if (worker_factors_[worker.value] == factor) return {};
    worker_factors_[worker.value] = factor;
    double smallest = std::numeric_limits<double>::infinity();
    for (std::size_t w = 0; w < network_.workers.size(); ++w)
      if (network_.workers[w] == node) smallest = std::min(smallest, worker_factors_[w]);
    node_factors_[node.value] = smallest;
    const std::vector<EdgeId> edges = edges_at(network_, node);
    for (const EdgeId id : edges) {
      const NetworkEdge& edge = network_.edges[id.value];
      capacities_[id.value] =
          std::min(node_factors_[edge.a.value], node_factors_[edge.b.value]) * edge.bandwidth;
    }
    return edges;
  }
  [[nodiscard]] Seconds latency(const Route& route, Bytes message) const {
    return factors_of(model_, message).latency_factor * route.cost.latency;
  }
  [[nodiscard]] BytesPerSecond rate_alone(const Route& route, Bytes message) const {
    BytesPerSecond rate{std::numeric_limits<double>::infinity()};
    for (const Hop& hop : route.hops) rate = std::min(rate, capacity(hop.edge));
    if (model_.tcp_gamma.value() > 0.0 && route.cost.latency.value() > 0.0)
      rate = std::min(rate, model_.tcp_gamma / (2.0 * route.cost.latency));
    return factors_of(model_, message).bandwidth_factor * rate;
  }

 private:
  Network network_;
  NetworkModel model_;
  Routes routes_;
  std::vector<double> node_factors_;  // of the workers on each node, the smallest
  std::vector<double> worker_factors_;
  std::vector<BytesPerSecond> capacities_;
  std::map<std::pair<bool, std::vector<WorkerId>>, std::vector<NodeId>> orders_;  // first: on a ring
};

}  // namespace paceline

#include "sim/engine/job_network.hpp"

#include <algorithm>
#include <cmath>
#include <limits>

#include "sim/base/check.hpp"

namespace paceline {

JobNetwork::JobNetwork(const Cluster& cluster)
    : network_(build_network(cluster)),
      model_(cluster.network.model),
      routes_(network_),
      node_factors_(network_.nodes.size(), 1.0),
      worker_factors_(network_.workers.size(), 1.0) {
  check(!find_unreachable(network_), "a network in which some machines cannot reach others");
  for (const NetworkEdge& edge : network_.edges) capacities_.push_back(edge.bandwidth);
}

NodeId JobNetwork::node(Endpoint endpoint) const {
  if (const auto* worker = std::get_if<WorkerId>(&endpoint)) return network_.workers.at(worker->value);
  return network_.servers.at(std::get<ServerId>(endpoint).value);
}

const std::vector<NodeId>& JobNetwork::order(Transport algorithm, std::span<const WorkerId> members) {
  const bool on_ring = algorithm == Transport::ring;
  const auto [found, is_new] = orders_.try_emplace({on_ring, {members.begin(), members.end()}});
  if (is_new)
    for (const WorkerId worker :
         on_ring ? ring_order(network_, routes_, members) : tree_order(network_, members))
      found->second.push_back(network_.workers[worker.value]);
  return found->second;
}

std::vector<EdgeId> JobNetwork::set_bandwidth_factor(WorkerId worker, double factor) {
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

BytesPerSecond JobNetwork::rate_alone(const Route& route, Bytes message) const {
  BytesPerSecond rate{std::numeric_limits<double>::infinity()};
  for (const Hop& hop : route.hops) rate = std::min(rate, capacity(hop.edge));
  if (model_.tcp_gamma.value() > 0.0 && route.cost.latency.value() > 0.0)
    rate = std::min(rate, model_.tcp_gamma / (2.0 * route.cost.latency));
  return factors_of(model_, message).bandwidth_factor * rate;
}

}  // namespace paceline

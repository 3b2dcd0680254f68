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

#include <map>
#include <span>
#include <vector>

#include "sim/cluster/routes.hpp"
#include "sim/engine/timeline.hpp"

namespace paceline {

class JobNetwork {
 public:
  explicit JobNetwork(const Cluster& cluster);

  [[nodiscard]] const Network& network() const { return network_; }
  [[nodiscard]] const NetworkModel& model() const { return model_; }
  [[nodiscard]] NodeId node(Endpoint endpoint) const;
  [[nodiscard]] const Route& route(NodeId from, NodeId to) { return routes_.between(from, to); }
  // The nodes of the members in the order in which the algorithm passes data on.
  [[nodiscard]] const std::vector<NodeId>& order(Transport algorithm, std::span<const WorkerId> members);

  [[nodiscard]] BytesPerSecond capacity(EdgeId edge) const { return capacities_[edge.value]; }
  // Returns the edges that may have changed; none when the worker has this factor already.
  std::vector<EdgeId> set_bandwidth_factor(WorkerId worker, double factor);
  [[nodiscard]] Seconds latency(const Route& route, Bytes message) const {
    return factors_of(model_, message).latency_factor * route.cost.latency;
  }
  [[nodiscard]] BytesPerSecond rate_alone(const Route& route, Bytes message) const;

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

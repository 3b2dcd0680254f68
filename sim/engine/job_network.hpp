// The network as a timeline uses it: routes between workers and servers, orders of collectives, links that
// get slower.
//
// Models:      capacity of a link = its bandwidth · the smallest factor of the workers at its ends. Each
//              direction of a link is a token bucket: after rest it lets `burst` bytes pass at once.
// Equation:    alone on its route of latency L a message has latency f_L · L and the rate
//              f_b · min(capacities; gamma / (2L) when gamma > 0), with the factors f_L and f_b of its size.
//              A bucket lacks D(t) = max(0, D(t0) - capacity · (t - t0)) bytes; of a message of S bytes that
//              sets out at t, S' = min(S, burst - the largest D on its route) pass at once, the others as
//              above, and each D grows by S. So bytes in any time T <= burst + capacity · T.
//              Of sockets a server's message of S bytes leaves in turn while S <= 5 ms · its rate alone.
// Units:       bytes/s, seconds.
// Assumptions: orders and routes do not follow capacities. A bucket fills from when a message sets out, also
//              while another link holds that message up. At least one byte of a message does not pass at
//              once.
//              Of messages that set out at one date, those that an executor sends take from a bucket in its
//              order, those of a collective in any.
// Source:      SimGrid's CM02 model for the factors; RFC 2215, section 3.6 (token bucket); the 5 ms measured,
//              TCP of Linux over links of 100 Mbit/s to 1 Gbit/s (docs/real-jobs.md).
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

// What a kernel queues of a message before a link, at once.
constexpr Seconds socket_queue{0.005};

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
    buckets_.resize(2 * capacities_.size());
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
  [[nodiscard]] bool has_bursts() const { return model_.burst > Bytes{}; }
  // Of a message that sets out now: the bytes that links' bursts do not let pass at once.
  [[nodiscard]] Bytes take_burst(Seconds now, const Route& route, Bytes message) {
    if (!has_bursts()) return message;
    constexpr double rounding = 1e-6;  // of a byte: dates that differ in their last digit let as many pass
    Bytes at_once{std::floor(message.value() - 1.0)};
    for (const Hop& hop : route.hops) {
      Bucket& bucket = buckets_[direction_index(hop)];
      const Bytes filled{capacity(hop.edge).value() * (now - bucket.since).value()};
      bucket = {std::max(Bytes{}, bucket.lacks - filled), now};
      at_once = std::min(at_once, Bytes{std::floor((model_.burst - bucket.lacks).value() + rounding)});
    }
    for (const Hop& hop : route.hops) buckets_[direction_index(hop)].lacks += message;
    return message - std::max(Bytes{}, at_once);
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

  [[nodiscard]] bool leaves_in_turn(ServerSends sends, NodeId from, NodeId to, Bytes message) {
    if (sends != ServerSends::sockets) return sends == ServerSends::in_turn;
    return message / rate_alone(route(from, to), message) <= socket_queue;
  }

 private:
  Network network_;
  NetworkModel model_;
  Routes routes_;
  std::vector<double> node_factors_;  // of the workers on each node, the smallest
  std::vector<double> worker_factors_;
  struct Bucket {
    Bytes lacks;
    Seconds since;
  };
  std::vector<BytesPerSecond> capacities_;
  std::vector<Bucket> buckets_;                                                   // of each direction
  std::map<std::pair<bool, std::vector<WorkerId>>, std::vector<NodeId>> orders_;  // first: on a ring
};

}  // namespace paceline

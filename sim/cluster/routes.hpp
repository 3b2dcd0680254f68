// The way a message takes through the network, and the order in which the members of a collective pass data
// on, so that neighbours in the order are near in the network.
//
// Models:      route: static, the one with the lowest latency; among those, with the fewest edges.
//              ring:  a short round trip: the better of worker order and a walk around the minimum spanning
//                     tree (at most twice the best trip when costs obey the triangle inequality), then 2-opt
//                     exchanges until none helps (up to 128 members). Never longer than worker order.
//              tree:  the order in which a walk around the network's minimum spanning tree meets the members,
//                     so that the members of one rack stand together.
// Equation:    cost of a route = (sum of its edges' latencies, number of edges), compared in this order;
//              length of a ring = sum of the costs from each member to the next, the last to the first.
// Units:       seconds.
// Assumptions: hosts forward like switches. Ties go to one fixed route: the same network gives the same
//              routes. On a star all orders cost the same: worker order.
// Not modelled: several routes for one pair; bandwidth in routes and orders, and its changes; load.
// Source:      E. W. Dijkstra, A note on two problems in connexion with graphs (1959); D. Rosenkrantz,
//              R. Stearns, P. Lewis, An analysis of several heuristics for the traveling salesman problem
//              (1977); J. Kruskal (1956); Boost.Graph.
#pragma once

#include <compare>
#include <map>
#include <span>
#include <vector>

#include "sim/cluster/network.hpp"

namespace paceline {

struct RouteCost {
  Seconds latency;
  std::size_t edges = 0;
  friend RouteCost operator+(RouteCost a, RouteCost b) { return {a.latency + b.latency, a.edges + b.edges}; }
  friend auto operator<=>(const RouteCost&, const RouteCost&) = default;
};

struct Route {
  std::vector<Hop> hops;  // none when both ends are one node
  RouteCost cost;
};

class Routes {
 public:
  // Keeps a reference to the network.
  explicit Routes(const Network& network);

  // Computed when first asked for, then kept.
  [[nodiscard]] const Route& between(NodeId from, NodeId to);

 private:
  // For each node the edge towards the source of a search, and how far it is.
  struct SearchTree {
    std::vector<EdgeId> towards;
    std::vector<RouteCost> cost;
  };
  [[nodiscard]] const SearchTree& tree_from(NodeId source);
  [[nodiscard]] Route walk(const SearchTree& tree, NodeId from, NodeId to) const;
  [[nodiscard]] NodeId step(const SearchTree& tree, NodeId at) const;

  const Network& network_;
  bool is_tree_;  // then one search serves all pairs
  std::map<NodeId, SearchTree> searches_;
  std::map<std::pair<NodeId, NodeId>, Route> routes_;
};

// Members are given in worker order.
[[nodiscard]] std::vector<WorkerId> ring_order(const Network& network, Routes& routes,
                                               std::span<const WorkerId> members);
[[nodiscard]] std::vector<WorkerId> tree_order(const Network& network, std::span<const WorkerId> members);

[[nodiscard]] RouteCost ring_length(const Network& network, Routes& routes, std::span<const WorkerId> ring);

}  // namespace paceline

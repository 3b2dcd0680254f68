// The way a message takes through the network.
//
// Models:      static shortest-path routing: the route with the lowest latency; among those, with the fewest
//              edges.
// Equation:    cost of a route = (sum of its edges' latencies, number of edges), compared in this order.
// Units:       seconds.
// Assumptions: hosts forward like switches. Ties go to one fixed route: the same network gives the same
//              routes.
// Not modelled: several routes for one pair, routes that react to load or to changes of bandwidth.
// Source:      E. W. Dijkstra, A note on two problems in connexion with graphs (1959); Boost.Graph.
#pragma once

#include <compare>
#include <map>
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

}  // namespace paceline

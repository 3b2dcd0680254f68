// In which order the members of a collective pass data on, so that neighbours in the order are near in the
// network.
//
// Models:      ring:  a short round trip: the better of worker order and a walk around the minimum spanning
//                     tree (at most twice the best trip when costs obey the triangle inequality), then 2-opt
//                     exchanges until none helps (up to 128 members). Never longer than worker order.
//              tree:  the order in which a walk around the network's minimum spanning tree meets the members,
//                     so that the members of one rack stand together.
// Equation:    length of a ring = sum of the route costs (routes.hpp) from each member to the next, the last
//              to the first; it counts latency, then edges.
// Units:       seconds.
// Assumptions: static: changes of bandwidth do not change an order. On a star all orders cost the same:
//              worker order.
// Not modelled: bandwidth in the cost of an order.
// Source:      D. Rosenkrantz, R. Stearns, P. Lewis, An analysis of several heuristics for the traveling
//              salesman problem (1977); J. Kruskal (1956); Boost.Graph.
#pragma once

#include <span>
#include <vector>

#include "sim/cluster/routes.hpp"

namespace paceline {

// Members are given in worker order.
[[nodiscard]] std::vector<WorkerId> ring_order(const Network& network, Routes& routes,
                                               std::span<const WorkerId> members);
[[nodiscard]] std::vector<WorkerId> tree_order(const Network& network, std::span<const WorkerId> members);

[[nodiscard]] RouteCost ring_length(const Network& network, Routes& routes, std::span<const WorkerId> ring);

}  // namespace paceline

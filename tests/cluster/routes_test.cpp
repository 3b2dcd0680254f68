#include "sim/cluster/routes.hpp"

#include <doctest/doctest.h>

#include "sim/base/check.hpp"
#include "tests/support/test_networks.hpp"

using namespace paceline;
using namespace paceline::test;

namespace {

EdgeConfig edge(const char* from, const char* to, double latency_s) {
  return {from, to, link_bandwidth, Seconds{latency_s}};
}

}  // namespace

TEST_CASE("a message takes the detour when it is quicker") {
  // a-b directly: 5 s; over c: 2 + 2 = 4 s
  const Network network = build_network(
      graph({"a", "b", "c"}, {edge("a", "b", 5), edge("b", "c", 2), edge("a", "c", 2)}, {"a", "b"}));
  Routes routes(network);
  const Route& there = routes.between(NodeId{0}, NodeId{1});
  CHECK(there.cost.latency.value() == 4.0);
  CHECK(there.hops == std::vector<Hop>{{EdgeId{2}, true}, {EdgeId{1}, false}});
  // the way back uses the other directions
  CHECK(routes.between(NodeId{1}, NodeId{0}).hops == std::vector<Hop>{{EdgeId{1}, true}, {EdgeId{2}, false}});
}

TEST_CASE("of two routes with one latency the one with fewer links is taken") {
  // a-b directly: 4 s; over c: 2 + 2 = 4 s
  const Network network = build_network(
      graph({"a", "b", "c"}, {edge("a", "c", 2), edge("c", "b", 2), edge("a", "b", 4)}, {"a", "b"}));
  Routes routes(network);
  CHECK(routes.between(NodeId{0}, NodeId{1}).hops == std::vector<Hop>{{EdgeId{2}, true}});
}

TEST_CASE("without latencies routes have the fewest links") {
  const Network network = build_network(
      graph({"a", "b", "c", "d"},
            {edge("a", "b", 0), edge("b", "c", 0), edge("c", "d", 0), edge("d", "a", 0)}, {"a", "d"}));
  Routes routes(network);
  CHECK(routes.between(NodeId{0}, NodeId{3}).hops == std::vector<Hop>{{EdgeId{3}, false}});
}

TEST_CASE("on one node there is nothing to cross") {
  const Network network = build_network(graph({"a", "b"}, {edge("a", "b", 1)}, {"a", "a", "b"}));
  Routes routes(network);
  CHECK(routes.between(network.workers[0], network.workers[1]).hops.empty());
}

TEST_CASE("a route between parts that nothing connects is a defect") {
  const Network network = build_network(graph({"a", "b", "c"}, {edge("a", "b", 1)}, {"a", "c"}));
  Routes routes(network);
  CHECK_THROWS_AS(static_cast<void>(routes.between(NodeId{0}, NodeId{2})), ProgrammingError);
}

TEST_CASE("a tree's routes are the same as Dijkstra's on it with one useless edge more") {
  // The additional edge is far too slow to be used, but makes the network no tree: every source is searched.
  Cluster described = two_level(6, 3, link_bandwidth, Seconds{0.5}, link_bandwidth, Seconds{2.0});
  const Network tree_network = build_network(described);
  Network general = tree_network;
  general.edges.push_back({general.workers[0], general.workers[5], link_bandwidth, Seconds{1000.0}});
  Routes tree_routes(tree_network);
  Routes general_routes(general);
  for (const NodeId from : tree_network.workers)
    for (const NodeId to : tree_network.workers)
      CHECK(tree_routes.between(from, to).hops == general_routes.between(from, to).hops);
}

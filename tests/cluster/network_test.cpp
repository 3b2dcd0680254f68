// Networks as graphs: what each topology builds.
#include "sim/cluster/network.hpp"

#include <doctest/doctest.h>

#include "sim/cluster/routes.hpp"
#include "tests/support/test_networks.hpp"

using namespace paceline;
using namespace paceline::test;

namespace {

// Latency between two workers.
double apart(const Cluster& cluster, std::uint64_t a, std::uint64_t b) {
  const Network network = build_network(cluster);
  Routes routes(network);
  return routes.between(network.workers.at(a), network.workers.at(b)).cost.latency.value();
}

}  // namespace

TEST_CASE("a star has one link for each host and two links on each route") {
  const Network network = build_network(star(3, link_bandwidth, link_latency));
  CHECK(network.nodes == std::vector<std::string>{"worker-0", "worker-1", "worker-2", "server-0", "switch"});
  CHECK(network.edges.size() == 4);
  CHECK(star_switch(network) == NodeId{4});
  // half of the latency on each of two links
  CHECK(apart(star(3, link_bandwidth, link_latency), 0, 2) == 0.5);
}

TEST_CASE("two hosts of one rack are a latency apart and of two racks two uplinks more") {
  const Cluster cluster = two_level(5, 2, link_bandwidth, link_latency, BytesPerSecond{200.0}, Seconds{2.0});
  // worker w is in rack floor(w · 2 / 5): 0 0 0 1 1
  CHECK(apart(cluster, 0, 2) == 0.5);
  CHECK(apart(cluster, 3, 4) == 0.5);
  // 0.25 + 2 + 2 + 0.25
  CHECK(apart(cluster, 2, 3) == 4.5);
  const Network network = build_network(cluster);
  CHECK_FALSE(star_switch(network).has_value());
  // 5 workers, a server and 2 uplinks
  CHECK(network.edges.size() == 8);
}

TEST_CASE("two hosts of a tree meet at the lowest switch above both") {
  // depth 3, fan-out 2: 8 places; latency 0.25 + u·k + 0.25 with u = 0.5 and k = 0, 2 or 4 uplinks
  const Cluster cluster = tree(8, 3, 2, link_bandwidth, link_latency);
  CHECK(apart(cluster, 0, 1) == 0.5);
  CHECK(apart(cluster, 0, 2) == 1.5);
  CHECK(apart(cluster, 0, 7) == 2.5);
  const Network network = build_network(cluster);
  // 1 + 2 + 4 switches, 8 workers, a server
  CHECK(network.nodes.size() == 16);
  CHECK(network.edges.size() == 15);
}

TEST_CASE("a tree leaves out switches that nobody hangs below") {
  // 3 workers in a tree of depth 3 and fan-out 2: two switches above them, one above those, the root
  const Network network = build_network(tree(3, 3, 2, link_bandwidth, link_latency));
  CHECK(network.nodes.size() == 3 + 1 + 4);
  CHECK(network.edges.size() + 1 == network.nodes.size());
  CHECK_FALSE(find_unreachable(network).has_value());
}

TEST_CASE("a tree of depth 1 is a star") {
  CHECK(star_switch(build_network(tree(4, 1, 4, link_bandwidth, link_latency))).has_value());
}

TEST_CASE("servers with the workers sit on their nodes in turn") {
  Cluster cluster = star(2, link_bandwidth, link_latency);
  cluster.servers = {.count = 3, .placement = ServerPlacement::with_workers};
  const Network network = build_network(cluster);
  CHECK(network.servers == std::vector<NodeId>{network.workers[0], network.workers[1], network.workers[0]});
  CHECK(network.edges.size() == 2);
}

TEST_CASE("a host that nothing connects is found") {
  const Network network =
      build_network(graph({"a", "b", "c"}, {{"a", "b", link_bandwidth, link_latency}}, {"a", "b", "c"}));
  CHECK(find_unreachable(network) == NodeId{2});
}

TEST_CASE("directions of a link are named after their ends") {
  const Network network = build_network(star(1, link_bandwidth, link_latency));
  CHECK(network.name({EdgeId{0}, true}) == "worker-0 -> switch");
  CHECK(network.name({EdgeId{0}, false}) == "switch -> worker-0");
}

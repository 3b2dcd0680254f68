#include <algorithm>

#include <doctest/doctest.h>

#include "sim/base/random.hpp"
#include "sim/cluster/routes.hpp"
#include "tests/support/test_networks.hpp"

using namespace paceline;
using namespace paceline::test;

namespace {

std::vector<WorkerId> workers(std::initializer_list<std::uint64_t> ids) {
  std::vector<WorkerId> all;
  for (const std::uint64_t id : ids) all.push_back(WorkerId{id});
  return all;
}

// Worker w hangs on switch w mod 2: neighbours in worker order are never under one switch.
Cluster alternating_racks(std::size_t count) {
  std::vector<std::string> nodes{"left", "right"};
  std::vector<EdgeConfig> edges{{"left", "right", link_bandwidth, Seconds{10.0}}};
  std::vector<std::string> places;
  for (std::size_t w = 0; w < count; ++w) {
    places.push_back("host-" + std::to_string(w));
    nodes.push_back(places.back());
    edges.push_back({places.back(), nodes[w % 2], link_bandwidth, Seconds{1.0}});
  }
  return graph(nodes, edges, places);
}

Cluster random_graph(std::uint64_t index, std::size_t count) {
  RandomStream random(Seed{7, 0}, Purpose::test, 0, index);
  std::vector<std::string> nodes;
  std::vector<EdgeConfig> edges;
  for (std::size_t n = 0; n < count; ++n) {
    nodes.push_back("node-" + std::to_string(n));
    // to one earlier node, so that all are connected, and to another one
    for (int e = 0; e < (n > 1 ? 2 : 1) && n > 0; ++e) {
      const std::string& to = nodes[random.below(n)];
      const auto same = [&](const EdgeConfig& edge) { return edge.from == nodes[n] && edge.to == to; };
      if (std::none_of(edges.begin(), edges.end(), same))
        edges.push_back({nodes[n], to, link_bandwidth, Seconds{random.uniform()}});
    }
  }
  return graph(nodes, edges, nodes);
}

}  // namespace

TEST_CASE("a ring crosses the uplinks twice, not at every member") {
  const Cluster cluster = alternating_racks(6);
  const Network network = build_network(cluster);
  Routes routes(network);
  const auto ring = ring_order(network, routes, all_workers(cluster));
  // worker order: 6 messages across, each 1 + 10 + 1; the best ring: 2 across and 4 inside, each 1 + 1
  CHECK(ring_length(network, routes, all_workers(cluster)).latency.value() == 72.0);
  CHECK(ring_length(network, routes, ring).latency.value() == 2 * 12.0 + 4 * 2.0);
  CHECK(ring == workers({0, 2, 4, 1, 3, 5}));
}

TEST_CASE("members of one rack stand together in a tree") {
  const Cluster cluster = alternating_racks(6);
  const Network network = build_network(cluster);
  CHECK(tree_order(network, workers({1, 2, 3, 4})) == workers({1, 3, 2, 4}));
}

TEST_CASE("on a star and within racks in order, rings and trees keep worker order") {
  for (const Cluster& cluster :
       {star(7, link_bandwidth, Seconds{0.1}), star(7, link_bandwidth, Seconds{0.0}),
        two_level(7, 3, link_bandwidth, Seconds{0.1}, link_bandwidth, Seconds{0.2})}) {
    const Network network = build_network(cluster);
    Routes routes(network);
    CHECK(ring_order(network, routes, all_workers(cluster)) == all_workers(cluster));
    CHECK(tree_order(network, all_workers(cluster)) == all_workers(cluster));
  }
}

TEST_CASE("a ring is never longer than worker order and visits every member once") {
  int shorter = 0;
  for (std::uint64_t index = 0; index < 50; ++index) {
    const Cluster cluster = random_graph(index, 5 + index % 20);
    const Network network = build_network(cluster);
    Routes routes(network);
    auto ring = ring_order(network, routes, all_workers(cluster));
    const RouteCost length = ring_length(network, routes, ring);
    const RouteCost in_worker_order = ring_length(network, routes, all_workers(cluster));
    CAPTURE(index);
    CHECK(length <= in_worker_order);
    if (length < in_worker_order) ++shorter;
    std::sort(ring.begin(), ring.end());
    CHECK(ring == all_workers(cluster));
  }
  CHECK(shorter >= 40);  // worker order is arbitrary here: it should hardly ever be the best
}

// Networks and servers in a scenario: what each topology needs, and what does not fit together.
#include <doctest/doctest.h>
#include <fmt/format.h>

#include "tests/scenario/good_example.hpp"

namespace paceline::test {
namespace {

// Five workers; `network`, `servers` and `phase` on lines of their own.
std::string scenario(const std::string& network, const std::string& servers = "{}",
                     const std::string& phase = "{policy: bsp, transport: server}") {
  return fmt::format(R"(name: network
job: {{network: n, profile: p.json, dataset: {{train_samples: 1000}}, optimizer: {{learning_rate: 0.1}}}}
cluster:
  workers: [{{cores: 1}}, {{cores: 1}}, {{cores: 1}}, {{cores: 1}}, {{cores: 1}}]
  network:
    {}
  servers: {}
synchronization: [{}]
batching: {{controller: uniform, initial: 10}}
learner: {{kind: none}}
evaluation: {{every: 5 updates}}
stop: {{epochs: 1}}
)",
                     network, servers, phase);
}

const std::string links = "bandwidth: 1 Gbit/s, latency: 50 us";
const std::string uplinks = "uplink_bandwidth: 4 Gbit/s, uplink_latency: 10 us";
const std::string square =
    "{topology: graph, nodes: [a, b, c, d], edges: [{from: a, to: b, bandwidth: 1 Gbit/s, latency: 1 us}, "
    "{from: b, to: c, bandwidth: 1 Gbit/s, latency: 1 us}, {from: c, to: d, bandwidth: 1 Gbit/s, latency: 2 "
    "us}], "
    "worker_nodes: [a, a, b, c, d], server_nodes: [b]}";

void check_error(const std::string& text, const std::string& message) {
  const std::string said = complaint(text);
  CAPTURE(said);
  CHECK(said.find(message) != said.npos);
  // one mistake, one complaint
  CHECK(said.find("error:") == said.rfind("error:"));
}

void check_warning(const std::string& text, const std::string& message) {
  const LoadedScenario loaded = load_text(text);
  REQUIRE(loaded.warnings.size() == 1);
  CAPTURE(loaded.warnings[0]);
  CHECK(loaded.warnings[0].find(message) != std::string::npos);
}

TEST_CASE("every topology can be written") {
  const NetworkConfig two_level =
      load_text(scenario("{topology: two-level, racks: 2, " + links + ", " + uplinks + "}"))
          .scenario.cluster.network;
  CHECK(two_level.topology == Topology::two_level);
  CHECK(two_level.racks == 2);
  CHECK(two_level.uplink_bandwidth.value() == 5e8);
  CHECK(two_level.uplink_latency.value() == 10e-6);
  CHECK(two_level.server_bandwidth == two_level.bandwidth);
  const NetworkConfig tree =
      load_text(scenario("{topology: tree, depth: 2, fan_out: 3, " + links + ", " + uplinks + "}"))
          .scenario.cluster.network;
  CHECK(tree.topology == Topology::tree);
  CHECK(tree.depth == 2);
  CHECK(tree.fan_out == 3);
  const NetworkConfig graph = load_text(scenario(square)).scenario.cluster.network;
  CHECK(graph.topology == Topology::graph);
  CHECK(graph.nodes == std::vector<std::string>{"a", "b", "c", "d"});
  CHECK(graph.worker_nodes == std::vector<std::string>{"a", "a", "b", "c", "d"});
  CHECK(graph.server_nodes == std::vector<std::string>{"b"});
  CHECK(graph.edges.at(2).to == "d");
  CHECK(graph.edges.at(2).latency.value() == 2e-6);
}

TEST_CASE("the model's factors default to the plain fluid model and can be chosen") {
  const LoadedScenario plain = load_text(scenario("{topology: star, " + links + "}"));
  CHECK(plain.scenario.cluster.network.model == NetworkModel{});
  CHECK(value_of(plain, "cluster.network.model.latency_factor").value == "1");
  CHECK(value_of(plain, "cluster.network.model.tcp_gamma").value == "0 B");
  CHECK(value_of(plain, "cluster.network.model.cross_traffic").value == "false");
  const NetworkModel model =
      load_text(scenario("{topology: star, " + links +
                         ", model: {latency_factor: 13.01, bandwidth_factor: 0.97, tcp_gamma: 4 MiB, "
                         "cross_traffic: true}}"))
          .scenario.cluster.network.model;
  CHECK(model == NetworkModel{13.01, 0.97, Bytes{4194304.0}, true, {}, {}});
}

TEST_CASE("factors by message size are read, and must ascend") {
  const std::string start =
      "{topology: star, " + links + ", model: {segments: [{from: 0 B, bandwidth_factor: 0.5}, ";
  const NetworkModel model =
      load_text(scenario(start + "{from: 64 KiB, latency_factor: 3}]}}")).scenario.cluster.network.model;
  CHECK(model.segments == std::vector<MessageSegment>{{Bytes{0.0}, 1.0, 0.5}, {Bytes{65536.0}, 3.0, 1.0}});
  check_error(scenario(start + "{from: 0 B}]}}"), "this segment begins before or with the one above it");
}

TEST_CASE("a link has a burst, or factors by message size") {
  const std::string start = "{topology: star, " + links + ", model: {burst: 32 KiB";
  CHECK(load_text(scenario(start + "}}")).scenario.cluster.network.model.burst == Bytes{32768.0});
  check_error(scenario(start + ", segments: [{from: 0 B}]}}"),
              "`burst` and `segments` both say what small messages take");
}

TEST_CASE("servers are counted and placed") {
  const ServersConfig servers =
      load_text(scenario("{topology: star, " + links + "}", "{count: 3, placement: with-workers}"))
          .scenario.cluster.servers;
  CHECK(servers.count == 3);
  CHECK(servers.placement == ServerPlacement::with_workers);
}

TEST_CASE("each all-reduce can be named") {
  for (const auto& [word, transport] : {std::pair{"tree", Transport::tree},
                                        {"halving-doubling", Transport::halving_doubling},
                                        {"ring", Transport::ring}}) {
    const std::string text = replaced(scenario("{topology: star, " + links + "}", "{}",
                                               fmt::format("{{policy: bsp, transport: {}}}", word)),
                                      "  servers: {}\n", "");
    CHECK(load_text(text).scenario.synchronization.at(0).config.transport == transport);
  }
}

TEST_CASE("values of a network are printed so that they can be read again") {
  const LoadedScenario loaded = load_text(scenario(square));
  CHECK(value_of(loaded, "cluster.network.nodes").value == "[a, b, c, d]");
  CHECK(value_of(loaded, "cluster.network.edges.1.to").value == "c");
  std::vector<std::string> overrides;
  for (const ResolvedValue& value : loaded.values)
    if (!value.is_absent) overrides.push_back(value.key + "=" + value.value);
  const LoadedScenario again = load_text(scenario(square), overrides);
  CHECK(again.scenario.cluster.network.nodes == loaded.scenario.cluster.network.nodes);
  CHECK(value_of(again, "cluster.network.worker_nodes").value == "[a, a, b, c, d]");
  // keys of other topologies are not listed
  for (const ResolvedValue& value : loaded.values) {
    CHECK(value.key != "cluster.network.bandwidth");
    CHECK(value.key != "cluster.network.racks");
  }
}

TEST_CASE("a topology needs its own keys") {
  check_error(scenario("{topology: two-level, " + links + ", " + uplinks + "}"),
              "5:3: error: missing key `racks` in `cluster.network`");
  check_error(scenario("{topology: tree, fan_out: 4, " + links + ", " + uplinks + "}"),
              "5:3: error: missing key `depth` in `cluster.network`");
  check_error(scenario("{topology: star, latency: 1 us}"), "5:3: error: missing key `bandwidth`");
  // When the topology itself is wrong, nobody knows which keys are missing.
  check_error(scenario("{topology: strar}"),
              "6:16: error: `cluster.network.topology`: unknown value `strar`");
}

TEST_CASE("a key of another topology gets a warning, unless an override left it behind") {
  const std::string text = scenario("{topology: star, " + links + ", racks: 2}");
  check_warning(text, "6:59: warning: `racks` is only used with `topology: two-level`");
  const std::string two_level = scenario("{topology: two-level, racks: 2, " + links + ", " + uplinks + "}");
  CHECK(load_text(two_level, {"cluster.network.topology=star"}).warnings.empty());
}

TEST_CASE("racks and trees have places for the workers") {
  check_error(scenario("{topology: two-level, racks: 6, " + links + ", " + uplinks + "}"),
              "6:34: error: 6 racks for 5 workers");
  check_error(scenario("{topology: tree, depth: 2, fan_out: 2, " + links + ", " + uplinks + "}"),
              "6:41: error: a tree of depth 2 and fan-out 2 has 4 places for 5 workers");
}

// The square with one thing changed.
std::string changed_square(const char* from, const char* to) {
  return replaced(scenario(square), from, to);
}

TEST_CASE("names in a graph must be those of nodes") {
  check_error(changed_square("to: b,", "to: bb,"), "6:66: error: there is no node `bb`");
  check_error(changed_square("worker_nodes: [a,", "worker_nodes: [x,"), "error: there is no node `x`");
  check_error(changed_square("server_nodes: [b]", "server_nodes: [y]"), "error: there is no node `y`");
  check_error(changed_square("nodes: [a, b, c, d]", "nodes: [a, b, c, d, a]"),
              "error: there are two nodes `a`");
}

TEST_CASE("edges of a graph join two nodes, once") {
  check_error(changed_square("from: b, to: c", "from: c, to: c"), "error: the edge leads from `c` to `c`");
  check_error(changed_square("from: b, to: c", "from: b, to: a"),
              "error: there are two edges between `b` and `a`");
}

TEST_CASE("every worker and separate server of a graph has a place") {
  check_error(changed_square("worker_nodes: [a, a,", "worker_nodes: [a,"),
              "error: `worker_nodes` has 4 items for 5 workers");
  check_error(changed_square("servers: {}", "servers: {count: 2}"),
              "error: `server_nodes` has 1 items for 2 servers");
  check_error(changed_square(", server_nodes: [b]", ""), "error: `transport: server` needs `server_nodes`");
  check_warning(changed_square("servers: {}", "servers: {placement: with-workers}"),
                "warning: `server_nodes` is not used with `placement: with-workers`");
}

TEST_CASE("a graph in two parts is refused") {
  check_error(changed_square("{from: b, to: c, bandwidth: 1 Gbit/s, latency: 1 us}, ", ""),
              "error: no path leads from `a` to `c`");
}

TEST_CASE("servers that no phase uses are said to be unused") {
  check_warning(scenario("{topology: star, " + links + "}", "{count: 2}", "{policy: bsp, transport: tree}"),
                "7:12: warning: `servers` is not used: no phase has `transport: server`");
  check_warning(
      scenario("{topology: star, " + links + ", server_bandwidth: 1 Gbit/s}", "{placement: with-workers}"),
      "warning: `server_bandwidth` is not used with `placement: with-workers`");
}

TEST_CASE("the fluid engine is taken where it is exact, and refused elsewhere") {
  // auto, the default: fluid, but SimGrid with cross-traffic and where every shortcut is off
  const std::string plain = scenario("{topology: star, " + links + "}");
  const std::string cross = scenario("{topology: star, " + links + ", model: {cross_traffic: true}}");
  const auto used = [](const std::string& text) {
    const Scenario read = load_text(text).scenario;
    return resolved(read.engine, read.shortcuts, read.cluster);
  };
  CHECK(used(plain) == NetworkEngine::fluid);
  CHECK(used(plain + "engine: simgrid\n") == NetworkEngine::simgrid);
  CHECK(used(plain + "engine: auto\n") == NetworkEngine::fluid);
  CHECK(used(cross + "engine: auto\n") == NetworkEngine::simgrid);
  CHECK(used(plain + "engine: auto\nshortcuts: off\n") == NetworkEngine::simgrid);
  CHECK(used(plain + "engine: fluid\nshortcuts: off\n") == NetworkEngine::fluid);
  check_error(
      cross + "engine: fluid\n",
      "13:9: error: `fluid` cannot simulate this network: cross-traffic is modelled by SimGrid alone");
}

TEST_CASE("servers that send in turn are for the fluid engine, and not for cross-traffic") {
  for (const std::string servers : {"{sends: in-turn}", "{sends: sockets}"}) {
    const std::string plain = scenario("{topology: star, " + links + "}", servers);
    const Scenario read = load_text(plain + "shortcuts: off\n").scenario;
    CHECK(resolved(read.engine, read.shortcuts, read.cluster) == NetworkEngine::fluid);
    check_error(
        plain + "engine: simgrid\n",
        "error: `simgrid` cannot simulate this job: messages that a server sends in turn are not modelled");
    check_error(scenario("{topology: star, " + links + ", model: {cross_traffic: true}}", servers),
                "error: no engine simulates both: cross-traffic is modelled by SimGrid alone");
  }
}

}  // namespace
}  // namespace paceline::test

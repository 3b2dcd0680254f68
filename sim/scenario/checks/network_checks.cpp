#include "sim/scenario/checks/network_checks.hpp"

#include <algorithm>
#include <set>

#include <fmt/format.h>

#include "sim/base/diagnostic.hpp"
#include "sim/cluster/network.hpp"

namespace paceline {
namespace {

const std::string section = "cluster.network.";

bool has_server_phase(const Scenario& scenario) {
  return std::any_of(scenario.synchronization.begin(), scenario.synchronization.end(),
                     [](const PhaseEntry& phase) { return phase.config.transport == Transport::server; });
}

void check_two_level(const Scenario& scenario, const Reading& reading) {
  const std::size_t workers = scenario.cluster.workers.size();
  if (reading.is_sound(section + "racks") && scenario.cluster.network.racks > workers)
    reading.problems().error(reading.spot(section + "racks"),
                             fmt::format("{} racks for {} workers", scenario.cluster.network.racks, workers),
                             "give at most as many racks as workers");
}

void check_tree(const Scenario& scenario, const Reading& reading) {
  const NetworkConfig& network = scenario.cluster.network;
  if (!reading.is_sound(section + "depth") || !reading.is_sound(section + "fan_out")) return;
  const std::size_t workers = scenario.cluster.workers.size();
  std::uint64_t places = 1;
  for (std::uint32_t level = 0; level < network.depth && places < workers; ++level) places *= network.fan_out;
  if (places < workers)
    reading.problems().error(reading.spot(section + "fan_out"),
                             fmt::format("a tree of depth {} and fan-out {} has {} places for {} workers",
                                         network.depth, network.fan_out, places, workers),
                             "raise `depth` or `fan_out`");
}

// The checks of a graph go on only while what they build on holds.
class GraphChecks {
 public:
  GraphChecks(const Scenario& scenario, const Reading& reading)
      : scenario_(scenario), network_(scenario.cluster.network), reading_(reading) {}

  void run() {
    if (!sound("nodes") || !sound("edges") || !sound("worker_nodes") || !sound("server_nodes")) return;
    check_nodes();
    check_edges();
    check_places("worker_nodes", network_.worker_nodes, scenario_.cluster.workers.size(), "worker");
    check_server_places();
    if (holds_) check_connected();
  }

 private:
  bool sound(const char* key) const { return reading_.is_sound(section + key); }
  void error(const std::string& key, const std::string& message, const std::string& hint) {
    reading_.problems().error(reading_.spot(section + key), message, hint);
    holds_ = false;
  }

  void check_nodes() {
    std::set<std::string> seen;
    for (std::size_t i = 0; i < network_.nodes.size(); ++i)
      if (!seen.insert(network_.nodes[i]).second)
        error(fmt::format("nodes.{}", i), fmt::format("there are two nodes `{}`", network_.nodes[i]), "");
  }
  void check_name(const std::string& key, const std::string& name) {
    if (std::find(network_.nodes.begin(), network_.nodes.end(), name) != network_.nodes.end()) return;
    const std::optional<std::string> likely = closest(name, network_.nodes);
    error(key, fmt::format("there is no node `{}`", name),
          likely ? fmt::format("did you mean `{}`?", *likely) : "list it under `nodes`");
  }
  void check_edges() {
    std::set<std::pair<std::string, std::string>> seen;
    for (std::size_t i = 0; i < network_.edges.size(); ++i) {
      const EdgeConfig& edge = network_.edges[i];
      const std::string key = fmt::format("edges.{}", i);
      check_name(key + ".from", edge.from);
      check_name(key + ".to", edge.to);
      if (edge.from == edge.to)
        error(key + ".to", fmt::format("the edge leads from `{0}` to `{0}`", edge.to), "");
      if (!seen.insert(std::minmax(edge.from, edge.to)).second)
        error(key, fmt::format("there are two edges between `{}` and `{}`", edge.from, edge.to),
              "edges are full-duplex: give one with the sum of their bandwidths");
    }
  }
  void check_places(const char* key, const std::vector<std::string>& names, std::size_t count,
                    const char* noun) {
    if (names.size() != count)
      error(key, fmt::format("`{}` has {} items for {} {}s", key, names.size(), count, noun),
            fmt::format("name one node for each {}", noun));
    for (std::size_t i = 0; i < names.size(); ++i) check_name(fmt::format("{}.{}", key, i), names[i]);
  }
  void check_server_places() {
    const bool given = reading_.is_given(section + "server_nodes");
    const ServersConfig& servers = scenario_.cluster.servers;
    if (servers.placement == ServerPlacement::with_workers) {
      if (given)
        reading_.problems().warning(reading_.spot(section + "server_nodes"),
                                    "`server_nodes` is not used with `placement: with-workers`");
    } else if (given) {
      check_places("server_nodes", network_.server_nodes, servers.count, "server");
    } else if (has_server_phase(scenario_)) {
      error("server_nodes", "`transport: server` needs `server_nodes`: where the parameter servers sit",
            "or write `servers: {placement: with-workers}` in `cluster`");
    }
  }
  void check_connected() {
    const Network graph = build_network(scenario_.cluster);
    const std::optional<NodeId> node = find_unreachable(graph);
    if (node)
      error("edges",
            fmt::format("no path leads from `{}` to `{}`", graph.nodes[graph.workers.front().value],
                        graph.nodes[node->value]),
            "add an edge that joins the two parts");
  }

  const Scenario& scenario_;
  const NetworkConfig& network_;
  const Reading& reading_;
  bool holds_ = true;
};

void check_servers(const Scenario& scenario, const Reading& reading) {
  Problems& problems = reading.problems();
  if (!reading.is_sound("synchronization") || !reading.is_sound("cluster.servers")) return;
  const bool together = reading.is_given("cluster.servers") &&
                        reading.spot("cluster.servers").source == reading.spot("synchronization").source;
  if (together && !has_server_phase(scenario))
    problems.warning(reading.spot("cluster.servers"),
                     "`servers` is not used: no phase has `transport: server`");
  if (scenario.cluster.servers.placement == ServerPlacement::with_workers &&
      reading.is_given(section + "server_bandwidth"))
    problems.warning(reading.spot(section + "server_bandwidth"),
                     "`server_bandwidth` is not used with `placement: with-workers`");
}

void check_segments(const Scenario& scenario, const Reading& reading) {
  if (!reading.is_sound(section + "model.segments")) return;
  const std::vector<MessageSegment>& segments = scenario.cluster.network.model.segments;
  for (std::size_t i = 1; i < segments.size(); ++i)
    if (segments[i].from <= segments[i - 1].from)
      reading.problems().error(reading.spot(fmt::format("{}model.segments.{}.from", section, i)),
                               "this segment begins before or with the one above it",
                               "list segments by ascending message size");
}

}  // namespace

void check_network(const Scenario& scenario, const Reading& reading) {
  check_segments(scenario, reading);
  if (!reading.is_sound("cluster.workers") || !reading.is_sound(section + "topology")) return;
  check_servers(scenario, reading);
  switch (scenario.cluster.network.topology) {
    case Topology::star:
      break;
    case Topology::two_level:
      check_two_level(scenario, reading);
      break;
    case Topology::tree:
      check_tree(scenario, reading);
      break;
    case Topology::graph:
      GraphChecks(scenario, reading).run();
      break;
  }
}

}  // namespace paceline

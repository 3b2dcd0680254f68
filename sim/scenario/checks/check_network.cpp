// Rules that join the keys of `cluster.network` and `cluster.servers`.
#include <set>

#include "sim/base/diagnostic.hpp"
#include "sim/cluster/network.hpp"
#include "sim/scenario/checks/check.hpp"

namespace paceline {
namespace {

class NetworkRules : Rules {
 public:
  using Rules::Rules;

  void check() const {
    if (sound(in("model.segments"))) check_segments();
    if (sound(in("model.segments"), in("model.burst"))) check_burst();
    if (sound("engine", in("model")) && sound("cluster.servers.sends")) check_engine();
    if (!sound("cluster.workers", in("topology"))) return;
    if (sound("synchronization", "cluster.servers")) check_servers();
    if (network.topology == Topology::two_level && sound(in("racks"))) check_racks();
    if (network.topology == Topology::tree && sound(in("depth"), in("fan_out"))) check_tree();
    if (network.topology == Topology::graph &&
        sound(in("nodes"), in("edges"), in("worker_nodes"), in("server_nodes")))
      check_graph();
  }

 private:
  const NetworkConfig& network = scenario.cluster.network;
  const ServersConfig& servers = scenario.cluster.servers;
  const std::size_t workers = scenario.cluster.workers.size();

  [[nodiscard]] static std::string in(std::string_view key) { return fmt::format("cluster.network.{}", key); }
  [[nodiscard]] bool has_server_phase() const {
    return std::ranges::any_of(scenario.synchronization, [](const PhaseEntry& phase) {
      return phase.config.transport == Transport::server;
    });
  }

  void check_segments() const {
    const std::vector<MessageSegment>& segments = network.model.segments;
    for (std::size_t i = 1; i < segments.size(); ++i)
      if (segments[i].from <= segments[i - 1].from)
        error(in(fmt::format("model.segments.{}.from", i)),
              "this segment begins before or with the one above it",
              "list segments by ascending message size");
  }

  void check_burst() const {
    if (network.model.burst > Bytes{} && !network.model.segments.empty())
      error(in("model.burst"), "`burst` and `segments` both say what small messages take",
            "leave one of them out");
  }

  void check_engine() const {
    const std::optional<std::string> not_fluid = why_not_fluid(network.model);
    const std::optional<std::string> not_simgrid = why_not_simgrid(servers);
    if (not_fluid && not_simgrid)
      error("cluster.servers.sends",
            fmt::format("no engine simulates both: {}, and by it {}", *not_fluid, *not_simgrid),
            "write `together`, or leave `cross_traffic` out");
    else if (scenario.engine == NetworkEngine::fluid && not_fluid)
      error("engine", "`fluid` cannot simulate this network: " + *not_fluid, "write `simgrid` or `auto`");
    else if (scenario.engine == NetworkEngine::simgrid && not_simgrid)
      error("engine", "`simgrid` cannot simulate this job: " + *not_simgrid, "write `fluid` or `auto`");
  }

  void check_servers() const {
    if (meant("cluster.servers", "synchronization") && !has_server_phase())
      warn("cluster.servers", "`servers` is not used: no phase has `transport: server`");
    if (std::ranges::count(varied_below("cluster.network"), in("server_bandwidth")) > 0 &&
        !has_server_phase())
      warn(in("server_bandwidth"), "`server_bandwidth` is not used: no phase has `transport: server`");
    if (servers.placement == ServerPlacement::with_workers && given(in("server_bandwidth")))
      warn(in("server_bandwidth"), "`server_bandwidth` is not used with `placement: with-workers`");
    if (servers.split == ParameterSplit::whole_variables && servers.count > 1 &&
        scenario.learner.kind == LearnerKind::network)
      error("cluster.servers.split", "a network that trains inside the simulation is on equal shards",
            "leave `split` out, or take another learner");
  }

  void check_racks() const {
    if (network.racks > workers)
      error(in("racks"), fmt::format("{} racks for {} workers", network.racks, workers),
            "give at most as many racks as workers");
  }

  void check_tree() const {
    std::uint64_t places = 1;
    for (std::uint32_t level = 0; level < network.depth && places < workers; ++level)
      places *= network.fan_out;
    if (places < workers)
      error(in("fan_out"),
            fmt::format("a tree of depth {} and fan-out {} has {} places for {} workers", network.depth,
                        network.fan_out, places, workers),
            "raise `depth` or `fan_out`");
  }

  // Whether all nodes are joined is only asked of a graph whose names are sound.
  void check_graph() const {
    const bool nodes = check_nodes();
    const bool edges = check_edges();
    const bool places = check_places("worker_nodes", network.worker_nodes, workers, "worker");
    if (!check_server_places() || !nodes || !edges || !places) return;
    const Network graph = build_network(scenario.cluster);
    if (const std::optional<NodeId> node = find_unreachable(graph))
      error(in("edges"),
            fmt::format("no path leads from `{}` to `{}`", graph.nodes[graph.workers.front().value],
                        graph.nodes[node->value]),
            "add an edge that joins the two parts");
  }

  // Each of these returns whether all was well.
  bool refuse(std::string_view key, std::string message, std::string hint = {}) const {
    error(in(key), std::move(message), std::move(hint));
    return false;
  }
  bool check_nodes() const {
    bool good = true;
    std::set<std::string> seen;
    for (std::size_t i = 0; i < network.nodes.size(); ++i)
      if (!seen.insert(network.nodes[i]).second)
        good = refuse(fmt::format("nodes.{}", i), fmt::format("there are two nodes `{}`", network.nodes[i]));
    return good;
  }
  bool check_name(const std::string& key, const std::string& name) const {
    if (std::ranges::find(network.nodes, name) != network.nodes.end()) return true;
    const std::optional<std::string> likely = closest(name, network.nodes);
    return refuse(key, fmt::format("there is no node `{}`", name),
                  likely ? fmt::format("did you mean `{}`?", *likely) : "list it under `nodes`");
  }
  bool check_edges() const {
    bool good = true;
    std::set<std::pair<std::string, std::string>> seen;
    for (std::size_t i = 0; i < network.edges.size(); ++i) {
      const EdgeConfig& edge = network.edges[i];
      const std::string key = fmt::format("edges.{}", i);
      good = check_name(key + ".from", edge.from) && good;
      good = check_name(key + ".to", edge.to) && good;
      if (edge.from == edge.to)
        good = refuse(key + ".to", fmt::format("the edge leads from `{0}` to `{0}`", edge.to));
      if (!seen.insert(std::minmax(edge.from, edge.to)).second)
        good = refuse(key, fmt::format("there are two edges between `{}` and `{}`", edge.from, edge.to),
                      "edges are full-duplex: give one with the sum of their bandwidths");
    }
    return good;
  }
  bool check_places(const char* key, const std::vector<std::string>& names, std::size_t count,
                    const char* noun) const {
    bool good = true;
    if (names.size() != count)
      good = refuse(key, fmt::format("`{}` has {} items for {} {}s", key, names.size(), count, noun),
                    fmt::format("name one node for each {}", noun));
    for (std::size_t i = 0; i < names.size(); ++i)
      good = check_name(fmt::format("{}.{}", key, i), names[i]) && good;
    return good;
  }
  bool check_server_places() const {
    const bool is_given = given(in("server_nodes"));
    if (servers.placement == ServerPlacement::with_workers) {
      if (is_given) warn(in("server_nodes"), "`server_nodes` is not used with `placement: with-workers`");
      return true;
    }
    if (is_given) return check_places("server_nodes", network.server_nodes, servers.count, "server");
    return !has_server_phase() ||
           refuse("server_nodes", "`transport: server` needs `server_nodes`: where the parameter servers sit",
                  "or write `servers: {placement: with-workers}` in `cluster`");
  }
};

}  // namespace

void check_network(const Scenario& scenario, const Reading& reading) {
  NetworkRules(scenario, reading).check();
}

}  // namespace paceline

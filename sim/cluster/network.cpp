#include "sim/cluster/network.hpp"

#include <algorithm>

#include <boost/graph/adjacency_list.hpp>
#include <boost/graph/connected_components.hpp>
#include <fmt/format.h>

#include "sim/base/check.hpp"

namespace paceline {
namespace {

class Builder {
 public:
  explicit Builder(const Cluster& cluster) : cluster_(cluster), config_(cluster.network) {}

  Network build() {
    switch (config_.topology) {
      case Topology::star:
        star();
        break;
      case Topology::two_level:
        two_level();
        break;
      case Topology::tree:
        tree();
        break;
      case Topology::graph:
        graph();
        break;
    }
    if (cluster_.servers.placement == ServerPlacement::with_workers)
      for (std::uint32_t k = 0; k < cluster_.servers.count; ++k)
        network_.servers.push_back(network_.workers.at(k % network_.workers.size()));
    return std::move(network_);
  }

 private:
  NodeId add_node(std::string name) {
    network_.nodes.push_back(std::move(name));
    return NodeId{network_.nodes.size() - 1};
  }
  void add_edge(NodeId a, NodeId b, BytesPerSecond bandwidth, Seconds latency) {
    network_.edges.push_back({a, b, bandwidth, latency});
  }
  void add_uplink(NodeId from, NodeId to) {
    add_edge(from, to, config_.uplink_bandwidth, config_.uplink_latency);
  }

  void add_hosts() {
    check(!cluster_.workers.empty(), "a network without workers");
    for (std::size_t w = 0; w < cluster_.workers.size(); ++w)
      network_.workers.push_back(add_node(fmt::format("worker-{}", w)));
    if (cluster_.servers.placement == ServerPlacement::with_workers) return;
    for (std::uint32_t k = 0; k < cluster_.servers.count; ++k)
      network_.servers.push_back(add_node(fmt::format("server-{}", k)));
  }
  void attach_worker(std::size_t worker, NodeId to) {
    add_edge(network_.workers[worker], to, config_.bandwidth, config_.latency / 2.0);
  }
  void attach_servers(NodeId to) {
    for (const NodeId server : network_.servers)
      add_edge(server, to, config_.server_bandwidth, config_.latency / 2.0);
  }

  void star() {
    add_hosts();
    const NodeId hub = add_node("switch");
    for (std::size_t w = 0; w < network_.workers.size(); ++w) attach_worker(w, hub);
    attach_servers(hub);
  }

  void two_level() {
    add_hosts();
    const std::size_t n = network_.workers.size();
    std::vector<NodeId> racks;
    for (std::uint32_t r = 0; r < config_.racks; ++r) racks.push_back(add_node(fmt::format("rack-{}", r)));
    const NodeId core = add_node("core");
    for (std::size_t w = 0; w < n; ++w) attach_worker(w, racks.at(w * racks.size() / n));
    attach_servers(core);
    for (const NodeId rack : racks) add_uplink(rack, core);
  }

  void tree() {
    add_hosts();
    std::vector<NodeId> level{add_node("root")};
    attach_servers(level.front());
    // The last level of links belongs to the workers. Switches without workers below them are left out.
    std::size_t leaves = 1;
    for (std::uint32_t l = 1; l < config_.depth; ++l) leaves *= config_.fan_out;
    const std::size_t used = (network_.workers.size() + config_.fan_out - 1) / config_.fan_out;
    check(used <= leaves, "more workers than leaves of the tree");
    for (std::uint32_t l = 1; l < config_.depth; ++l) {
      leaves /= config_.fan_out;  // below one switch of this level
      std::vector<NodeId> next;
      for (std::size_t s = 0; s < (used + leaves - 1) / leaves; ++s) {
        next.push_back(add_node(fmt::format("switch-{}-{}", l, s)));
        add_uplink(next.back(), level.at(s / config_.fan_out));
      }
      level = std::move(next);
    }
    for (std::size_t w = 0; w < network_.workers.size(); ++w) attach_worker(w, level.at(w / config_.fan_out));
  }

  NodeId named(const std::string& name) const {
    const auto found = std::find(network_.nodes.begin(), network_.nodes.end(), name);
    check(found != network_.nodes.end(), "a place in the network that is no node");
    return NodeId{static_cast<std::uint64_t>(found - network_.nodes.begin())};
  }
  void graph() {
    check(config_.worker_nodes.size() == cluster_.workers.size(), "workers without a node");
    network_.nodes = config_.nodes;
    for (const EdgeConfig& edge : config_.edges)
      add_edge(named(edge.from), named(edge.to), edge.bandwidth, edge.latency);
    for (const std::string& node : config_.worker_nodes) network_.workers.push_back(named(node));
    if (cluster_.servers.placement == ServerPlacement::with_workers) return;
    check(config_.server_nodes.size() <= cluster_.servers.count, "more server nodes than servers");
    for (const std::string& node : config_.server_nodes) network_.servers.push_back(named(node));
  }

  const Cluster& cluster_;
  const NetworkConfig& config_;
  Network network_;
};

}  // namespace

std::string Network::name(Hop hop) const {
  const NetworkEdge& edge = edges.at(hop.edge.value);
  const std::string& a = nodes.at(edge.a.value);
  const std::string& b = nodes.at(edge.b.value);
  return hop.forward ? fmt::format("{} -> {}", a, b) : fmt::format("{} -> {}", b, a);
}

Network build_network(const Cluster& cluster) {
  return Builder(cluster).build();
}

std::optional<NodeId> find_unreachable(const Network& network) {
  boost::adjacency_list<boost::vecS, boost::vecS, boost::undirectedS> graph(network.nodes.size());
  for (const NetworkEdge& edge : network.edges) boost::add_edge(edge.a.value, edge.b.value, graph);
  std::vector<std::size_t> component(network.nodes.size());
  boost::connected_components(graph, component.data());
  std::optional<NodeId> lowest;
  const std::size_t first = component.at(network.workers.at(0).value);
  for (const auto* hosts : {&network.workers, &network.servers})
    for (const NodeId host : *hosts)
      if (component[host.value] != first && (!lowest || host < *lowest)) lowest = host;
  return lowest;
}

std::optional<NodeId> star_switch(const Network& network) {
  if (network.edges.empty() || network.edges.size() + 1 != network.nodes.size()) return std::nullopt;
  std::vector<bool> is_host(network.nodes.size(), false);
  for (const auto* hosts : {&network.workers, &network.servers})
    for (const NodeId host : *hosts) is_host[host.value] = true;
  const NetworkEdge& first = network.edges.front();
  const NodeId hub = is_host[first.a.value] ? first.b : first.a;
  if (is_host[hub.value]) return std::nullopt;
  for (const NetworkEdge& edge : network.edges) {
    if (edge.a != hub && edge.b != hub) return std::nullopt;
    if (!is_host[edge.a == hub ? edge.b.value : edge.a.value]) return std::nullopt;
  }
  return hub;
}

std::vector<EdgeId> edges_at(const Network& network, NodeId node) {
  std::vector<EdgeId> found;
  for (std::size_t e = 0; e < network.edges.size(); ++e)
    if (network.edges[e].a == node || network.edges[e].b == node) found.push_back(EdgeId{e});
  return found;
}

}  // namespace paceline

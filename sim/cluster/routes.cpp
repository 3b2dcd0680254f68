#include "sim/cluster/routes.hpp"

#include <algorithm>
#include <cmath>
#include <functional>
#include <limits>

#include <boost/graph/adjacency_list.hpp>
#include <boost/graph/dijkstra_shortest_paths.hpp>
#include <boost/graph/kruskal_min_spanning_tree.hpp>

#include "sim/base/check.hpp"

namespace paceline {
namespace {

constexpr std::size_t most_members_for_exchanges = 128;  // 2-opt looks at every pair

struct EdgeProperties {
  RouteCost cost;
  EdgeId id;
};
using Graph =
    boost::adjacency_list<boost::vecS, boost::vecS, boost::undirectedS, boost::no_property, EdgeProperties>;

Graph graph_of(const Network& network) {
  Graph graph(network.nodes.size());
  for (std::size_t e = 0; e < network.edges.size(); ++e) {
    const NetworkEdge& edge = network.edges[e];
    boost::add_edge(edge.a.value, edge.b.value, EdgeProperties{{edge.latency, 1}, EdgeId{e}}, graph);
  }
  return graph;
}

// For each node its neighbours in the minimum spanning tree, the nearest first.
using Neighbours = std::vector<std::pair<RouteCost, std::size_t>>;

std::vector<Neighbours> spanning_tree(const Network& network) {
  const Graph graph = graph_of(network);
  std::vector<Graph::edge_descriptor> kept;
  boost::kruskal_minimum_spanning_tree(graph, std::back_inserter(kept),
                                       boost::weight_map(boost::get(&EdgeProperties::cost, graph)));
  std::vector<Neighbours> neighbours(network.nodes.size());
  for (const auto& edge : kept) {
    const RouteCost cost = graph[edge].cost;
    neighbours[boost::source(edge, graph)].emplace_back(cost, boost::target(edge, graph));
    neighbours[boost::target(edge, graph)].emplace_back(cost, boost::source(edge, graph));
  }
  for (Neighbours& of_node : neighbours) std::sort(of_node.begin(), of_node.end());
  return neighbours;
}

class Ring {
 public:
  Ring(const Network& network, Routes& routes, std::vector<WorkerId> order)
      : network_(network), routes_(routes), order_(std::move(order)) {}

  // Turns stretches around while that shortens the ring.
  void exchange() {
    bool improved = true;
    while (improved) {
      improved = false;
      for (std::size_t i = 0; i + 2 < order_.size(); ++i)
        for (std::size_t j = i + 2; j < order_.size(); ++j) improved = turn_if_shorter(i, j) || improved;
    }
  }
  [[nodiscard]] const std::vector<WorkerId>& order() const { return order_; }

 private:
  RouteCost cost(WorkerId a, WorkerId b) {
    return routes_.between(network_.workers[a.value], network_.workers[b.value]).cost;
  }
  // Edges (i, i+1) and (j, j+1) become (i, j) and (i+1, j+1).
  bool turn_if_shorter(std::size_t i, std::size_t j) {
    const WorkerId after = order_[(j + 1) % order_.size()];
    const RouteCost before_turn = cost(order_[i], order_[i + 1]) + cost(order_[j], after);
    const RouteCost after_turn = cost(order_[i], order_[j]) + cost(order_[i + 1], after);
    if (!clearly_less(after_turn, before_turn)) return false;
    std::reverse(order_.begin() + static_cast<std::ptrdiff_t>(i) + 1,
                 order_.begin() + static_cast<std::ptrdiff_t>(j) + 1);
    return true;
  }
  // Rounding must not look like an improvement: the exchanges would never end.
  static bool clearly_less(RouteCost a, RouteCost b) {
    if (a.latency < b.latency * (1.0 - 1e-12)) return true;
    return a.latency <= b.latency && a.edges < b.edges;
  }

  const Network& network_;
  Routes& routes_;
  std::vector<WorkerId> order_;
};

}  // namespace

Routes::Routes(const Network& network)
    : network_(network), is_tree_(network.edges.size() + 1 == network.nodes.size()) {}

const Routes::SearchTree& Routes::tree_from(NodeId source) {
  const auto [found, is_new] = searches_.try_emplace(source);
  SearchTree& tree = found->second;
  if (!is_new) return tree;
  const Graph graph = graph_of(network_);
  std::vector<Graph::edge_descriptor> towards(network_.nodes.size());
  const RouteCost unreachable{Seconds{std::numeric_limits<double>::infinity()}, 0};
  tree.cost.assign(network_.nodes.size(), unreachable);
  boost::dijkstra_shortest_paths(graph, source.value,
                                 boost::weight_map(boost::get(&EdgeProperties::cost, graph))
                                     .distance_map(tree.cost.data())
                                     .distance_compare(std::less<RouteCost>())
                                     .distance_combine(std::plus<RouteCost>())
                                     .distance_inf(unreachable)
                                     .distance_zero(RouteCost{})
                                     .visitor(boost::make_dijkstra_visitor(boost::record_edge_predecessors(
                                         towards.data(), boost::on_edge_relaxed()))));
  tree.towards.resize(towards.size());
  for (std::size_t node = 0; node < towards.size(); ++node)
    if (node != source.value && tree.cost[node] != unreachable) tree.towards[node] = graph[towards[node]].id;
  return tree;
}

NodeId Routes::step(const SearchTree& tree, NodeId at) const {
  const NetworkEdge& edge = network_.edges[tree.towards[at.value].value];
  return edge.a == at ? edge.b : edge.a;
}

// The tree path between two nodes: both climb towards the source until they meet.
Route Routes::walk(const SearchTree& tree, NodeId from, NodeId to) const {
  for (const NodeId end : {from, to})
    check(std::isfinite(tree.cost[end.value].latency.value()),
          "a message between nodes that nothing connects");
  const auto depth = [&](NodeId node) { return tree.cost[node.value].edges; };
  std::vector<Hop> up;
  std::vector<Hop> down;
  while (from != to) {
    NodeId& lower = depth(from) >= depth(to) ? from : to;
    const EdgeId edge = tree.towards[lower.value];
    const bool climbs_forward = network_.edges[edge.value].a == lower;
    if (&lower == &from) {
      up.push_back({edge, climbs_forward});
    } else {
      down.push_back({edge, !climbs_forward});
    }
    lower = step(tree, lower);
  }
  up.insert(up.end(), down.rbegin(), down.rend());
  Route route{std::move(up), {}};
  for (const Hop& hop : route.hops)
    route.cost = route.cost + RouteCost{network_.edges[hop.edge.value].latency, 1};
  return route;
}

const Route& Routes::between(NodeId from, NodeId to) {
  const auto known = routes_.find({from, to});
  if (known != routes_.end()) return known->second;
  const NodeId source = is_tree_ ? NodeId{0} : from;
  return routes_.emplace(std::pair(from, to), walk(tree_from(source), from, to)).first->second;
}

RouteCost ring_length(const Network& network, Routes& routes, std::span<const WorkerId> ring) {
  RouteCost length;
  for (std::size_t i = 0; i < ring.size(); ++i) {
    const WorkerId next = ring[(i + 1) % ring.size()];
    length = length + routes.between(network.workers.at(ring[i].value), network.workers.at(next.value)).cost;
  }
  return length;
}

std::vector<WorkerId> tree_order(const Network& network, std::span<const WorkerId> members) {
  check(!members.empty(), "a collective without members");
  std::vector<std::vector<WorkerId>> at_node(network.nodes.size());
  for (const WorkerId member : members) at_node[network.workers.at(member.value).value].push_back(member);
  const auto neighbours = spanning_tree(network);
  std::vector<WorkerId> order;
  std::vector<bool> seen(network.nodes.size(), false);
  std::vector<std::size_t> open{network.workers[members.front().value].value};
  while (!open.empty()) {
    const std::size_t node = open.back();
    open.pop_back();
    if (seen[node]) continue;
    seen[node] = true;
    order.insert(order.end(), at_node[node].begin(), at_node[node].end());
    for (auto next = neighbours[node].rbegin(); next != neighbours[node].rend(); ++next)
      open.push_back(next->second);
  }
  check(order.size() == members.size(), "a member of a collective that the others cannot reach");
  return order;
}

std::vector<WorkerId> ring_order(const Network& network, Routes& routes, std::span<const WorkerId> members) {
  const std::vector<WorkerId> by_worker(members.begin(), members.end());
  if (members.size() <= 3 || star_switch(network)) return by_worker;
  const std::vector<WorkerId> by_tree = tree_order(network, members);
  const auto length = [&](const std::vector<WorkerId>& order) { return ring_length(network, routes, order); };
  std::vector<WorkerId> best = length(by_tree) < length(by_worker) ? by_tree : by_worker;
  if (members.size() > most_members_for_exchanges) return best;
  Ring ring(network, routes, best);
  ring.exchange();
  return length(ring.order()) < length(best) ? ring.order() : best;
}

}  // namespace paceline

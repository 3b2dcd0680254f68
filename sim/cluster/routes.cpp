#include "sim/cluster/routes.hpp"

#include <cmath>
#include <functional>
#include <limits>

#include <boost/graph/adjacency_list.hpp>
#include <boost/graph/dijkstra_shortest_paths.hpp>

#include "sim/base/check.hpp"

namespace paceline {
namespace {

struct EdgeProperties {
  RouteCost cost;
  EdgeId id;
};
using Graph =
    boost::adjacency_list<boost::vecS, boost::vecS, boost::undirectedS, boost::no_property, EdgeProperties>;

// Notes through which edge a node is reached best.
class NoteEdge : public boost::dijkstra_visitor<> {
 public:
  explicit NoteEdge(std::vector<EdgeId>& towards) : towards_(&towards) {}
  void edge_relaxed(Graph::edge_descriptor edge, const Graph& graph) {
    (*towards_)[boost::target(edge, graph)] = graph[edge].id;
  }

 private:
  std::vector<EdgeId>* towards_;
};

}  // namespace

Routes::Routes(const Network& network)
    : network_(network), is_tree_(network.edges.size() + 1 == network.nodes.size()) {}

const Routes::SearchTree& Routes::tree_from(NodeId source) {
  const auto [found, is_new] = searches_.try_emplace(source);
  SearchTree& tree = found->second;
  if (!is_new) return tree;
  Graph graph(network_.nodes.size());
  for (std::size_t e = 0; e < network_.edges.size(); ++e) {
    const NetworkEdge& edge = network_.edges[e];
    boost::add_edge(edge.a.value, edge.b.value, EdgeProperties{{edge.latency, 1}, EdgeId{e}}, graph);
  }
  const RouteCost unreachable{Seconds{std::numeric_limits<double>::infinity()}, 0};
  tree.towards.resize(network_.nodes.size());
  tree.cost.assign(network_.nodes.size(), unreachable);
  boost::dijkstra_shortest_paths(graph, source.value,
                                 boost::weight_map(boost::get(&EdgeProperties::cost, graph))
                                     .distance_map(tree.cost.data())
                                     .distance_compare(std::less<RouteCost>())
                                     .distance_combine(std::plus<RouteCost>())
                                     .distance_inf(unreachable)
                                     .distance_zero(RouteCost{})
                                     .visitor(NoteEdge(tree.towards)));
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

}  // namespace paceline

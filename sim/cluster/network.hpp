// The network as a graph: nodes, full-duplex edges, and where workers and servers sit.
//
// Models:      what cluster.hpp describes, as an undirected graph; each edge has two independent directions.
// Units:       bytes/s in each direction, seconds one-way.
// Assumptions: nodes and edges are in the order of the description: workers first, then servers, then
//              switches. Every result that could depend on an order depends on this one.
// Not modelled: edges whose two directions differ.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "sim/base/id.hpp"
#include "sim/cluster/cluster.hpp"

namespace paceline {

using NodeId = Id<struct NodeTag>;
using EdgeId = Id<struct EdgeTag>;

struct NetworkEdge {
  NodeId a;
  NodeId b;
  BytesPerSecond bandwidth;
  Seconds latency;
};

// One direction of an edge.
struct Hop {
  EdgeId edge;
  bool forward = true;  // from a to b
  friend auto operator<=>(const Hop&, const Hop&) = default;
};

struct Network {
  std::vector<std::string> nodes;  // their names
  std::vector<NetworkEdge> edges;
  std::vector<NodeId> workers;  // where each worker sits
  std::vector<NodeId> servers;

  [[nodiscard]] std::string name(Hop hop) const;  // "worker-3 -> switch"
};

// The description must have passed the scenario's checks (places exist, everything is connected).
[[nodiscard]] Network build_network(const Cluster& cluster);

// A node with a worker or server on it that the first worker's node has no path to; the lowest one.
[[nodiscard]] std::optional<NodeId> find_unreachable(const Network& network);

// The switch of a network in which every host hangs on one switch by one edge; nothing otherwise.
[[nodiscard]] std::optional<NodeId> star_switch(const Network& network);

// The edges at a node: a worker's own.
[[nodiscard]] std::vector<EdgeId> edges_at(const Network& network, NodeId node);

}  // namespace paceline

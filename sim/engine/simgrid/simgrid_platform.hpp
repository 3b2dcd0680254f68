// Builds a network out of SimGrid hosts and links. Private to sim/engine.
//
// A star becomes a star zone: memory grows with the hosts. Any other graph becomes a full zone whose routes
// are those of sim/cluster/routes.hpp, each handed over when a message first needs it: a table of all pairs
// would take 150 MB at 1024 workers.
#pragma once

#include <map>
#include <set>
#include <utility>
#include <vector>

#include <simgrid/s4u.hpp>

#include "sim/engine/job_network.hpp"

namespace paceline {

class SimGridPlatform {
 public:
  // Keeps a reference to the network.
  explicit SimGridPlatform(JobNetwork& network);

  [[nodiscard]] simgrid::s4u::Host* host(NodeId node) const { return hosts_.at(node); }
  [[nodiscard]] simgrid::s4u::Host* any_host() const { return hosts_.begin()->second; }
  [[nodiscard]] const simgrid::s4u::Link* link(std::size_t direction) const { return links_[direction]; }
  // Before the first message from one node to another.
  void open_route(NodeId from, NodeId to);
  // Hands the present bandwidth of an edge to SimGrid.
  void update_bandwidth(EdgeId edge);

 private:
  void open_direction(NodeId from, NodeId to);
  void build_star();
  void build_full();
  void set_factors_by_size();
  simgrid::s4u::Host* add_host(NodeId node);
  simgrid::s4u::SplitDuplexLink* add_link(EdgeId edge);

  JobNetwork& network_;
  simgrid::s4u::NetZone* zone_ = nullptr;
  std::map<NodeId, simgrid::s4u::Host*> hosts_;  // of the nodes that have workers or servers
  std::vector<simgrid::s4u::SplitDuplexLink*> duplex_links_;
  std::vector<simgrid::s4u::Link*> links_;  // by direction
  std::set<std::pair<NodeId, NodeId>> open_;
  bool is_star_ = false;
};

}  // namespace paceline

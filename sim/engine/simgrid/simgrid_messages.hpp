// A network of SimGrid hosts and links, and messages on it: starting them, noticing their arrival, and how
// much they load the links. Private to sim/engine.
//
// A star becomes a star zone: memory grows with the hosts. Any other graph becomes a full zone whose routes
// are those of sim/cluster/routes.hpp, each handed over when a message first needs it: a table of all pairs
// would take 150 MB at 1024 workers.
//
// SimGrid's shares are constant between two dates at which time stops; each time it has gone on, the rates
// that held are still there to be read (`link_meter.hpp` adds them up). They are shares of the link's
// capacity; bytes progress at the model's bandwidth factor times that.
#pragma once

#include <functional>
#include <map>
#include <set>
#include <unordered_map>
#include <utility>
#include <vector>

#include <simgrid/s4u.hpp>

#include "sim/engine/job_network.hpp"
#include "sim/engine/link_meter.hpp"

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

class SimGridMessages {
 public:
  // Keeps a reference to the network. Listens to SimGrid for the rest of the process.
  explicit SimGridMessages(JobNetwork& network);
  SimGridMessages(const SimGridMessages&) = delete;
  SimGridMessages& operator=(const SimGridMessages&) = delete;

  void send(NodeId from, NodeId to, Bytes size, std::function<void()> on_arrival);
  void update_bandwidths(const std::vector<EdgeId>& edges);
  // From now on nothing arrives any more.
  void stop() { stopped_ = true; }

  [[nodiscard]] std::size_t under_way() const { return under_way_; }
  [[nodiscard]] std::vector<LinkTotals> link_totals() const { return meter_.totals(); }
  [[nodiscard]] simgrid::s4u::Host* any_host() const { return platform_.any_host(); }

 private:
  // What is known about the way from one node to another.
  struct Channel {
    simgrid::s4u::Host* from = nullptr;
    simgrid::s4u::Host* to = nullptr;
    const Route* route = nullptr;
  };
  struct UnderWay {
    simgrid::s4u::CommPtr keep_alive;
    const Channel* channel;
    Bytes size;
    std::function<void()> on_arrival;
  };

  const Channel& channel(NodeId from, NodeId to);
  void start(const Channel& channel, Bytes size, Bytes travelling, std::function<void()> on_arrival);
  void completed(const simgrid::s4u::Activity& activity);
  void time_went_on(double duration);

  JobNetwork& network_;
  SimGridPlatform platform_;
  LinkMeter meter_;
  // Both are looked up only, never iterated.
  std::unordered_map<std::uint64_t, Channel> channels_;
  std::unordered_map<const simgrid::s4u::Activity*, UnderWay> arrivals_;
  std::size_t under_way_ = 0;
  bool stopped_ = false;
};

}  // namespace paceline

// Messages under SimGrid: starting them, noticing their arrival, and how much they load the links. Private to
// sim/engine.
//
// SimGrid's shares are constant between two dates at which time stops; each time it has gone on, the rates
// that held are still there to be read (`link_meter.hpp` adds them up). They are shares of the link's
// capacity; bytes progress at the model's bandwidth factor times that.
#pragma once

#include <functional>
#include <unordered_map>
#include <vector>

#include <simgrid/s4u.hpp>

#include "sim/engine/job_network.hpp"
#include "sim/engine/link_meter.hpp"
#include "sim/engine/simgrid/simgrid_platform.hpp"

namespace paceline {

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
  void start(const Channel& channel, Bytes size, std::function<void()> on_arrival);
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

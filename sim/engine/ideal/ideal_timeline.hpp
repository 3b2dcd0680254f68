// The oracle: a priority queue of events, and every message as if it were alone on its route.
//
// Models:      messages and collectives (collective.hpp) on the network's routes, without sharing.
// Equation:    message of B bytes: f_L · L + B / r, with L the route's latency, f_L the model's latency
//              factor and r the rate alone (job_network.hpp). When a bandwidth changes under way, what is
//              left goes on at the new rate.
// Units:       seconds, bytes.
// Assumptions: no contention: messages that share a link do not slow each other down.
// Not modelled: everything a shared network does; compare with simgrid_timeline.hpp.
#pragma once

#include <cstdint>
#include <map>
#include <utility>

#include "sim/cluster/cluster.hpp"
#include "sim/engine/collective.hpp"
#include "sim/engine/job_network.hpp"
#include "sim/engine/link_meter.hpp"
#include "sim/engine/timeline.hpp"

namespace paceline {

class IdealTimeline final : public Timeline {
 public:
  explicit IdealTimeline(const Cluster& cluster);

  [[nodiscard]] Seconds now() const override { return now_; }
  void at(Seconds date, Occurrence occurrence) override;
  void send(Endpoint from, Endpoint to, Bytes size, Occurrence arrival) override;
  void all_reduce(Transport algorithm, std::span<const WorkerId> members, Bytes size,
                  Seconds undisturbed_until, Occurrence finish) override;
  void set_bandwidth_factor(WorkerId worker, double factor) override;
  [[nodiscard]] std::vector<LinkUse> link_use() const override;
  [[nodiscard]] bool run(const Deliver& deliver) override;

 private:
  using FlightId = std::uint64_t;
  using Agenda = std::multimap<Seconds, std::variant<Occurrence, FlightId>>;
  // A message under way.
  struct Flight {
    const Route* route;
    Bytes size;
    Bytes left;     // at `since`
    Seconds since;  // before it, latency; from it on, the transfer at `rate`
    BytesPerSecond rate;
    Agenda::iterator landing;
    std::function<void()> on_arrival;
  };
  struct UnderWay {
    CollectiveRun run;
    Occurrence finish;
  };

  void send(NodeId from, NodeId to, Bytes size, std::function<void()> on_arrival);
  void schedule_landing(FlightId id, Flight& flight);
  void pass_time(Flight& flight);
  void land(FlightId id);
  void arrived(std::uint64_t collective, const CollectiveRun::Message& message);

  JobNetwork network_;
  Seconds now_;
  Agenda agenda_;
  std::map<FlightId, Flight> flights_;
  FlightId next_flight_ = 0;
  std::map<std::uint64_t, UnderWay> collectives_;
  std::uint64_t next_collective_ = 0;
  std::vector<Occurrence> gathered_;
  std::vector<LinkTotals> use_;
};

}  // namespace paceline

// The simulated timeline: SimGrid's fluid network model under the job's messages.
//
// Models:      a star of full-duplex links (SimGrid's split-duplex); messages that share a link share its bandwidth
//              max-min fairly. A ring all-reduce is its 2(n-1) rounds of real messages: a member sends round k+1 once
//              it has sent and received round k.
// Equation:    alone on its route a message takes L + B / min(bandwidths), met to 1e-12: model CM02, TCP-gamma 0,
//              cross-traffic 0, no latency or bandwidth factors (see `simgrid_model`).
// Units:       seconds, bytes.
// Assumptions: computing, serving and pauses take known durations and are kernel timers, not SimGrid executions.
// Not modelled: packets, TCP slow start, the default LV08 corrections (latency ×13.01, bandwidth ×0.97).
// Source:      SimGrid 3.32; engineering measurements in the README of this folder.
//
// SimGrid keeps one clock per process: a second SimGridTimeline in one process is refused.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "sim/cluster/cluster.hpp"
#include "sim/engine/timeline.hpp"

namespace paceline {

// The settings every simulation runs with, as `name:value`; printed in manifests.
[[nodiscard]] std::vector<std::string> simgrid_model();
[[nodiscard]] std::string simgrid_version();

class SimGridTimeline final : public Timeline {
 public:
  explicit SimGridTimeline(const Cluster& cluster);
  ~SimGridTimeline() override;

  [[nodiscard]] Seconds now() const override;
  void at(Seconds date, Occurrence occurrence) override;
  void send(Endpoint from, Endpoint to, Bytes size, Occurrence arrival) override;
  void ring_all_reduce(std::span<const WorkerId> members, Bytes size, Occurrence finish) override;
  void set_bandwidth_factor(WorkerId worker, double factor) override;
  [[nodiscard]] bool run(const Deliver& deliver) override;

 private:
  struct State;
  std::unique_ptr<State> state_;
};

}  // namespace paceline

// One record for each iteration of a run, when asked for: it grows with the run.
//
// Models:      a gradient from its release (its worker may go on, parameters start to travel) over start,
//              finish and arrival (its last shard at the servers, or the end of its all-reduce) to being
//              applied or discarded.
// Units:       seconds since the start of the job; samples; updates.
// Assumptions: gradients are numbered in the order of their release.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string_view>
#include <vector>

#include "sim/training/action.hpp"
#include "sim/training/event.hpp"

namespace paceline {

enum class Fate : std::uint8_t { in_flight, applied, applied_locally, discarded };

[[nodiscard]] std::string_view to_string(Fate fate);

struct IterationRecord {
  WorkerId worker;
  std::uint64_t iteration = 0;
  std::int64_t batch_samples = 0;
  Seconds release;
  std::optional<Seconds> start;  // absent: only its parameters were on their way
  std::optional<Seconds> finish;
  std::optional<Seconds> compute_time;
  std::optional<Seconds> arrival;
  std::optional<Seconds> applied;
  std::optional<std::uint64_t>
      staleness;  // absent, like the following, unless applied to the global parameters
  std::optional<double> mean_staleness;
  std::optional<double> weight;
  Fate fate = Fate::in_flight;
};

class IterationLog {
 public:
  void on_event(Seconds now, const Event& event);
  void on_action(Seconds now, const Action& action);
  void on_applied(Seconds now, const std::vector<AppliedGradient>& gradients);

  // Those that were started, in the order of their release.
  [[nodiscard]] std::vector<IterationRecord> take();

 private:
  IterationRecord& of(GradientId gradient);
  void release(Seconds now, GradientId gradient);

  std::vector<std::optional<IterationRecord>> records_;  // by gradient
  std::map<WorkerId, GradientId> latest_;
  std::map<UpdateId, std::vector<GradientId>> collectives_;
};

}  // namespace paceline

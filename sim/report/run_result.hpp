// Everything one simulated run leaves behind, small enough to travel from a child process to its parent.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "sim/base/quantity.hpp"
#include "sim/base/random.hpp"

namespace paceline {

struct CurvePoint {
  Seconds time;
  std::uint64_t updates = 0;
  std::int64_t samples = 0;
  double loss = 0.0;
  double accuracy = 0.0;
};

struct BatchChange {
  Seconds time;
  std::uint64_t updates = 0;
  std::vector<std::int64_t> batches;  // by worker
};

struct RunResult {
  Seed seed;
  std::string end_reason;  // target-reached, workload-done, diverged or stalled
  std::string stall;       // who waits for what; empty unless stalled
  Seconds end_time;
  std::uint64_t updates = 0;
  std::int64_t samples = 0;
  std::uint64_t gradients_started = 0;
  std::uint64_t gradients_applied = 0;
  std::optional<Seconds> time_to_accuracy;  // absent: the target was never reached, or there is none
  std::vector<CurvePoint> curve;            // empty when the job does not learn
  std::vector<BatchChange> batch_changes;   // the first one at time 0
  // (worker, staleness) -> gradients applied with it
  std::map<std::pair<std::uint64_t, std::uint64_t>, std::uint64_t> staleness;

  [[nodiscard]] double mean_staleness() const;
  // Mean time between two evaluations: a time-to-accuracy is not known more finely. 0 with fewer than two.
  [[nodiscard]] Seconds evaluation_interval() const;
};

// A lossless, compact form (CBOR) for the pipe between processes.
[[nodiscard]] std::string pack(const RunResult& result);
[[nodiscard]] RunResult unpack(const std::string& packed);

}  // namespace paceline

// What comparisons need of one run: a few numbers, kept for thousands of runs where whole results would not fit.
//
// Units:       seconds, samples, updates; accuracy as a fraction.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "sim/report/recording/run_result.hpp"

namespace paceline {

struct RunSummary {
  Seed seed;
  std::string end_reason;                   // as in RunResult
  std::optional<Seconds> time_to_accuracy;  // absent: never, or there is no target
  Seconds end_time;
  std::int64_t samples = 0;
  std::optional<double> final_accuracy;  // absent: no evaluation was known before the end
  double mean_staleness = 0.0;
  Seconds evaluation_interval;  // mean time between two evaluations

  // Neither diverged nor stalled: else the end of the job is not the end of its work.
  [[nodiscard]] bool did_its_work() const { return end_reason != "diverged" && end_reason != "stalled"; }
};

[[nodiscard]] RunSummary summary_of(const RunResult& run);
[[nodiscard]] std::vector<RunSummary> summaries_of(const std::vector<RunResult>& runs);

}  // namespace paceline

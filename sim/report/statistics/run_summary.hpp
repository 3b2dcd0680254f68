// One run in a few numbers: a row of summary.csv, and what a study keeps of each of its thousands of runs.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "sim/base/validity.hpp"
#include "sim/report/recording/run_result.hpp"
#include "sim/scenario/scenario.hpp"

namespace paceline {

struct RunSummary {
  Seed seed;
  std::string end_reason;                   // as in RunResult
  std::optional<Seconds> time_to_accuracy;  // absent: never, or there is no target
  Seconds end_time;
  std::optional<double> final_loss;  // absent: no evaluation was known before the end, or it is not finite
  std::optional<double> final_accuracy;  // absent: no evaluation was known before the end
  std::optional<double> best_accuracy;
  std::uint64_t updates = 0;
  std::int64_t samples = 0;
  std::uint64_t gradients_started = 0;
  double mean_staleness = 0.0;
  double mean_shard_staleness = 0.0;
  std::optional<std::uint64_t> staleness_max;  // absent: no gradient was applied
  std::optional<std::int64_t> batch_min;       // of any worker at any time
  std::optional<std::int64_t> batch_max;
  std::uint64_t adjustments = 0;
  double mean_imbalance = 1.0;
  double mean_batch_growth = 1.0;
  std::optional<Seconds> mean_lag;
  Seconds evaluation_interval;  // mean time between two evaluations
  double core_hours = 0.0;

  // Neither diverged nor stalled: else the end of the job is not the end of its work.
  [[nodiscard]] bool did_its_work() const { return end_reason != "diverged" && end_reason != "stalled"; }
};

// How the runs of one scenario ended: each in one way.
struct Outcomes {
  int runs = 0;
  int reached = 0;  // the target
  int done = 0;     // the whole workload, without reaching a target
  int diverged = 0;
  int stalled = 0;

  // Of more than half of the runs: "reached", "diverges", "stalls", or else "never"; without a target "done".
  [[nodiscard]] std::string_view word(bool has_target) const;
  // "2 diverged, 1 stalled, 3 never reached"; empty when every run reached the target, or did its work.
  [[nodiscard]] std::string shortfall(bool has_target) const;
};
// The rows of a scenario with what its runs showed more exactly than their scenario: staleness and batches.
[[nodiscard]] std::vector<ValidityRow> validity_in(const std::vector<RunSummary>& runs,
                                                   std::vector<ValidityRow> rows);
[[nodiscard]] Outcomes count_outcomes(const std::vector<RunSummary>& runs);

// What runs of one scenario are of, and what has to be equal for two such variants to be compared.
struct Comparable {
  std::string name;
  std::optional<double> target_accuracy;
  double workload_epochs = 0.0;
  std::int64_t epoch_samples = 0;
  bool has_assumed_learner = false;
  std::optional<double> price_per_hour = {};  // of all workers together; absent: they have none
  std::vector<ValidityRow> validity = {};
};
[[nodiscard]] Comparable comparable_of(const Scenario& scenario);

[[nodiscard]] RunSummary summary_of(const RunResult& run);
[[nodiscard]] std::vector<RunSummary> summaries_of(const std::vector<RunResult>& runs);

}  // namespace paceline

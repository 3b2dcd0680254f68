// Predictions made before live jobs ran, held to them.
//
// Models:      for each quantity of a job its distribution over simulated and over real runs.
// Equation:    error = median of the real runs / median of the simulated ones - 1. The predicted interval is
//              that of one more run, m ± t(0.95, n − 1)·s·√(1 + 1/n) of n simulated ones, cut off at 0 and
//              of shares at 1; `inside` counts the real runs in it. Error at the usual pace: of those real
//              runs alone around which the machine was as fast as the prediction has it
//              (calibrate/live/kept_runs.hpp); it was looked at before and after them, whatever they took
//              themselves. Ranking: Kendall's tau between the
//              medians of the scenarios, over pairs whose real runs do not overlap.
//              Distance of staleness: of a run's shares of gradients by worker and staleness from those of
//              all simulated runs, ½ Σ |difference|: 0 when they are alike, 1 when they have none in common.
//              Null model of the rate: sum of the workers' calibrated speeds, Σ b / T_w(b), as if nobody
//              waited and nothing travelled.
// Units:       see each quantity.
// Assumptions: real runs of all scenarios alternate, so that a machine that changes meets all of them.
//              Runs are normally distributed.
// Not modelled: correlation between quantities of one run.
// Source:      docs/real-jobs.md.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "calibrate/live/kept_runs.hpp"
#include "sim/cost/profile.hpp"
#include "sim/report/recording/run_result.hpp"
#include "sim/report/statistics/time_to_accuracy.hpp"
#include "sim/scenario/scenario.hpp"

namespace paceline {

// What one run says about one quantity.
struct Observation {
  std::string quantity;  // "iteration of worker 1", "updates"
  std::string unit;
  double value = 0.0;
};
// All quantities that the run has. Its iterations have been recorded.
[[nodiscard]] std::vector<Observation> observations_of(const RunResult& run);

struct PredictedAndReal {
  std::string scenario;
  std::string quantity;
  std::string unit;
  std::optional<double> predicted;  // median; absent: no simulated run has it
  std::optional<Interval> interval;
  std::optional<double> real;     // median
  std::optional<Interval> range;  // of the real runs
  std::optional<double> error;
  std::optional<double> error_at_usual_pace;
  std::size_t inside = 0;  // real runs in the predicted interval
  std::size_t runs = 0;    // real ones that have it
  std::size_t runs_at_usual_pace = 0;
  std::optional<double> null_model;
};

// What one real run had of one quantity.
struct RealValue {
  double value = 0.0;
  bool is_at_usual_pace = false;
};
// Of one quantity, without its names: what simulated and real runs had of it.
[[nodiscard]] PredictedAndReal row_of_values(const std::vector<double>& predicted,
                                             const std::vector<RealValue>& real);

struct LiveComparison {
  std::string scenario;
  std::vector<PredictedAndReal> rows;
};
// Of each worker, and of the quickest, as calibrated, at the initial batch.
[[nodiscard]] std::vector<Seconds> calibrated_iterations(const Scenario& scenario, const Profiles& profiles);
[[nodiscard]] Seconds quickest_iteration(const Scenario& scenario, const Profiles& profiles);

[[nodiscard]] LiveComparison compare_live(const Scenario& scenario, const Profiles& profiles,
                                          const std::vector<RunResult>& predicted,
                                          const std::vector<live::RealRun>& real);

struct Ranking {
  std::string quantity;
  int agreeing = 0;  // pairs of scenarios whose real runs are apart, in the predicted order …
  int opposed = 0;   // … and in the opposite one
  [[nodiscard]] std::optional<double> tau() const {
    const int pairs = agreeing + opposed;
    return pairs == 0 ? std::nullopt : std::optional(static_cast<double>(agreeing - opposed) / pairs);
  }
};
[[nodiscard]] Ranking ranking_of(const std::vector<LiveComparison>& all, const std::string& quantity);

[[nodiscard]] std::string live_validation_text(const std::vector<LiveComparison>& all);
[[nodiscard]] std::string live_validation_csv(const std::vector<LiveComparison>& all);
// One line: how many quantities lie inside their intervals, the largest errors, the ranking.
[[nodiscard]] std::string live_verdict(const std::vector<LiveComparison>& all);

inline constexpr const char* share_unit = "-";
inline constexpr const char* rate_quantity = "samples a second";
inline constexpr const char* distance_quantity = "distance of staleness from predicted";
inline constexpr const char* time_quantity = "time to accuracy";

}  // namespace paceline

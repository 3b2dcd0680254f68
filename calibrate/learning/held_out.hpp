// What a fit says about groups of runs it has not seen, beside what was recorded and what null models say.
//
// Models:      one row per group and quantity. Null models, the simplest that could make the same claims: (1)
//              linear: a quantity of a mixed run lies between those of the two pure runs, in the share of
//              synchronous work; (2) first protocol: it is that of the pure run of the protocol that comes
//              first; (3) first drop: an accuracy is reached at the first evaluation after the first drop of
//              the learning rate. A figure that does not beat them is not claimed.
// Equation:    linear: share · synchronous + (1 - share) · asynchronous. 90 % intervals of what was recorded:
//              Student's t for a mean, Jeffreys for a share of runs, chi-square for a standard
//              deviation. A prediction inside says no more than that these runs do not refute it.
// Units:       accuracies and shares as fractions, seconds.
// Assumptions: nothing of the held-out runs enters a prediction but the plan and the positions or the spacing
//              of their evaluations. Null times use the rates of the fitted groups, which hold the pure runs.
// Not modelled: correlation between rows of one group.
// Source:      order matters and the first drop decides: Sync-Switch, Li et al., ICDCS 2021, section VI.
#pragma once

#include <optional>
#include <span>
#include <string>
#include <vector>

#include "calibrate/learning/prediction.hpp"

namespace paceline {

enum class HeldOutQuantity {
  final_accuracy,
  final_deviation,
  accuracy_at,
  time_to_accuracy,
  median_time_to_accuracy,
  share_reaching,
  synchronous_step_time,
  asynchronous_step_time,
  total_time
};

struct HeldOutRow {
  std::string group;
  std::size_t runs = 0;
  HeldOutQuantity quantity = HeldOutQuantity::final_accuracy;
  double at = 0.0;  // progress or threshold, where the quantity has one
  std::optional<double> predicted{};
  std::optional<double> recorded{};
  std::optional<Interval> predicted_range{};    // where 90 of 100 sets of as many runs lie
  std::optional<Interval> recorded_interval{};  // where one is given
  std::optional<double> null_linear{};
  std::optional<double> null_first{};  // first protocol decides, or first drop for times
};

[[nodiscard]] std::string quantity_text(const HeldOutRow& row);
// Relative for times and deviations, a difference otherwise; nothing when a side is missing.
[[nodiscard]] std::optional<double> error_of(const HeldOutRow& row, const std::optional<double>& predicted);
// "-" for nothing; whole seconds for long times.
[[nodiscard]] std::string value_text(const std::optional<double>& value, HeldOutQuantity quantity);
[[nodiscard]] std::string error_text(const HeldOutRow& row, const std::optional<double>& predicted);

// Total seconds over total steps of all phases of all runs.
[[nodiscard]] ClockRates step_times(const PredictedRuns& runs);

struct HeldOutOptions {
  std::vector<double> thresholds;
  int runs = 200;
};
// Replays the plans (replay.hpp) and takes times from the rates of the fitted groups.
[[nodiscard]] std::vector<HeldOutRow> predict_held_out(const FittedLearner& learner,
                                                       std::span<const TracedGroup> fitted_on,
                                                       std::span<const TracedGroup> held_out,
                                                       const HeldOutOptions& options);
// The rows of one group for runs predicted by whatever means; their ranges are those of `sets`, or of the
// same runs.
[[nodiscard]] std::vector<HeldOutRow> compare_held_out(const PredictedRuns& predicted,
                                                       std::span<const TracedGroup> fitted_on,
                                                       const RunGroup& recorded,
                                                       std::span<const double> thresholds,
                                                       const PredictedRuns* sets = nullptr);

// Mean absolute error of one quantity over policies: groups of one policy count once, by runs.
[[nodiscard]] std::optional<double> mean_error(
    std::span<const HeldOutRow> rows, HeldOutQuantity quantity, std::optional<double> at = std::nullopt,
    std::optional<double> HeldOutRow::*predicted = &HeldOutRow::predicted);
// Root mean square over groups of predicted / recorded standard deviation.
[[nodiscard]] std::optional<double> deviation_ratio(std::span<const HeldOutRow> rows);

}  // namespace paceline

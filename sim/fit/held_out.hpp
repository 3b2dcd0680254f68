// What a fit says about groups of runs it has not seen, beside what was recorded and what the null models say.
//
// Models:      one row per group and quantity: final accuracy and its standard deviation, accuracy while the learning
//              rate is high, time to accuracy and the share of runs that reach it, total time.
// Equation:    intervals: Clopper-Pearson 90 % for a share of runs, chi-square 90 % for a standard deviation.
// Units:       accuracies and shares as fractions, seconds.
// Assumptions: times use the rates of the fitted groups, so that nothing of the held-out runs enters a prediction but
//              the plan and the positions of their evaluations.
// Not modelled: the error of the recorded mean itself (n is printed).
// Source:      null models: null_models.hpp.
#pragma once

#include <optional>
#include <span>
#include <string>
#include <vector>

#include "sim/fit/prediction.hpp"

namespace paceline {

enum class HeldOutQuantity {
  final_accuracy,
  final_deviation,
  accuracy_at,
  time_to_accuracy,
  share_reaching,
  total_time
};

struct HeldOutRow {
  std::string group;
  std::size_t runs = 0;
  HeldOutQuantity quantity = HeldOutQuantity::final_accuracy;
  double at = 0.0;  // progress or threshold, where the quantity has one
  std::optional<double> predicted;
  std::optional<double> recorded;
  std::optional<double> recorded_low;  // interval, where one is given
  std::optional<double> recorded_high;
  std::optional<double> null_linear;
  std::optional<double> null_first;  // first protocol decides, or first drop for times
};

[[nodiscard]] std::string quantity_text(const HeldOutRow& row);
// Relative for times and deviations, a difference otherwise; nothing when a side is missing.
[[nodiscard]] std::optional<double> error_of(const HeldOutRow& row, const std::optional<double>& predicted);

struct HeldOutOptions {
  std::vector<double> thresholds;
  int runs = 200;
};
[[nodiscard]] std::vector<HeldOutRow> predict_held_out(const FittedLearner& learner,
                                                       std::span<const TracedGroup> fitted_on,
                                                       std::span<const TracedGroup> held_out,
                                                       const HeldOutOptions& options);

// Mean absolute error of one quantity over policies: groups of one policy (up to " (") count once, by runs.
[[nodiscard]] std::optional<double> mean_error(
    std::span<const HeldOutRow> rows, HeldOutQuantity quantity, std::optional<double> at = std::nullopt,
    std::optional<double> HeldOutRow::*predicted = &HeldOutRow::predicted);
// Root mean square over groups of predicted / recorded standard deviation.
[[nodiscard]] std::optional<double> deviation_ratio(std::span<const HeldOutRow> rows);

// "bsp02-asp98" of "resnet32-cifar10-8/bsp02-asp98 (step32000)".
[[nodiscard]] std::string policy_of(const std::string& group);

}  // namespace paceline

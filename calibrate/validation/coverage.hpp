// Whether 90 % ranges hold 90 % of single recorded runs that were left out, how wide they are, and which
// cause of variation makes them so.
//
// Models:      one row for each recorded run and quantity, beside the range of a single run predicted without
//              it (predict_sets).
// Equation:    share inside with its exact 90 % interval (Clopper-Pearson). Width: mean over groups of at
//              least three runs of (upper - lower end) / recorded scale, over the mean of (3.29 · standard
//              deviation of the recorded runs) / recorded scale: a normal distribution's 5-95 % spread.
//              Scale: the recorded mean for times, 1 for accuracies. A run that does not reach an accuracy
//              is later than every run that does; for widths it counts as its job's end. Cause: variance
//              from that cause alone, over the sum of all four, mean over groups.
// Units:       seconds, accuracies as fractions.
// Assumptions: times to accuracy by each run's own seconds per step.
// Not modelled: runs of one group are inside or outside together, so the interval is too narrow.
// Source:      Clopper and Pearson, Biometrika 1934.
#pragma once

#include <array>
#include <span>
#include <string>
#include <vector>

#include "calibrate/learning/prediction.hpp"

namespace paceline {

enum class CoveredQuantity { job_time, time_to_accuracy, final_accuracy };
inline constexpr std::array covered_quantities{CoveredQuantity::job_time, CoveredQuantity::time_to_accuracy,
                                               CoveredQuantity::final_accuracy};
[[nodiscard]] const char* name_of(CoveredQuantity quantity);

struct CoveredRun {
  std::string run;
  double recorded = 0.0;  // infinite: never reached
  bool inside = false;
};

// One quantity of one group.
struct CoverageRow {
  std::string left_out;  // "policies", "runs", "campaigns"
  std::string fold;
  std::string group;
  CoveredQuantity quantity = CoveredQuantity::final_accuracy;
  double at = 0.0;      // threshold, where the quantity has one
  double median = 0.0;  // predicted
  Interval range;
  std::vector<CoveredRun> runs;
  std::optional<Interval> mean_range{};  // of the mean over as many runs, those that never reach left out
  std::optional<double> recorded_mean{};
  double relative_width = 0.0;
  std::optional<double> relative_spread{};  // from three runs on
  std::array<double, 4> variances{};        // from runs, fit, model, cluster alone
};

struct CoverageRequest {
  std::string left_out;
  std::string fold;
  const StatisticalModel& model;
  ClockRates rates;
  TimeVariation variation;
  SourcesOfVariation sources{};
};
// Sets of at least as many runs as were recorded.
[[nodiscard]] PredictedRuns predicted_sets(const CoverageRequest& request, const TracedGroup& recorded);
// Of the runs of `recorded`, of which nothing was fitted.
[[nodiscard]] std::vector<CoverageRow> coverage_of(const CoverageRequest& request,
                                                   const TracedGroup& recorded, const PredictedRuns& sets,
                                                   std::span<const double> thresholds);

[[nodiscard]] std::string coverage_text(std::span<const CoverageRow> rows);
[[nodiscard]] std::string coverage_csv(std::span<const CoverageRow> rows);

}  // namespace paceline

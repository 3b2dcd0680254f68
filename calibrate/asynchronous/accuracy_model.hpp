// What asynchronous training with n workers at a rate divided by √n does to accuracy.
//
// Models:      accuracy at each evaluation of a job of one network, its spread between runs, by the exposure
//              to stale gradients.
// Equation:    exposure e = mean staleness · rate / rate of one worker = (n - 1) / √n for n workers at
//              rate/√n. final accuracy = a₀ - a · E, E ~ gamma with mean e and variance v·e (harm comes in
//              random portions), plus a normal deviation σ of every run. a by weighted least squares over
//              groups; v by moments. Before the end: mean curves of the recorded groups, linear in between,
//              at exposure E; until the first drop of the rate plus the deviations of one recorded run of a
//              worker alone, drawn from them: most evaluations lie a little above the mean, a few far below,
//              and a run that learns late does so at each. Independent normal ones with their variance
//              reached 0.90 before the drop, which these do not.
// Units:       accuracy 0 to 1; progress as a share of the workload.
// Assumptions: one schedule of the rate for all; workers of any speed: exposure counts the mean over
//              updates, which is n - 1 whatever their speeds.
// Not modelled: momentum and rate apart from staleness; which layers are stale.
// Source:      docs/models.md; the bound of stability with delayed gradients is proportional to 1 / (rate ·
//              staleness).
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "calibrate/asynchronous/records.hpp"
#include "sim/base/random.hpp"

namespace paceline {

struct AccuracyRun {
  std::string group;
  double exposure = 0.0;
  double final_accuracy = 0.0;
  std::vector<RecordedEvaluation> curve;
};
[[nodiscard]] double exposure_of(double workers);
// Trainings without the configuration left out.
[[nodiscard]] std::vector<AccuracyRun> accuracy_runs(const AsynchronousRecords& records,
                                                     const std::string& left_out = "");

inline constexpr int evaluations_of_a_job = 16;  // after equal shares of the updates

struct PredictedCurve {
  std::vector<double> accuracy;  // by evaluation
  double final_accuracy = 0.0;
};

class AccuracyModel {
 public:
  explicit AccuracyModel(const std::vector<AccuracyRun>& runs);

  [[nodiscard]] double mean_final(double exposure) const { return base_ - slope_ * exposure; }
  [[nodiscard]] double slope() const { return slope_; }
  [[nodiscard]] double variance_by_exposure() const { return variance_by_exposure_; }
  [[nodiscard]] double run_deviation() const { return run_deviation_; }
  // One run. `exposures`: means until each evaluation. `slope_error` standard errors of the slope are added.
  [[nodiscard]] PredictedCurve draw(const std::vector<double>& exposures, double slope_error,
                                    RandomStream& random) const;
  [[nodiscard]] double slope_deviation() const { return slope_deviation_; }

 private:
  struct Group {
    double exposure = 0.0;
    double mean = 0.0;
    std::vector<double> curve;  // at the evaluations
  };
  [[nodiscard]] double curve_at(std::size_t evaluation, double exposure) const;

  std::vector<Group> groups_;  // by exposure
  double base_ = 0.0;
  double slope_ = 0.0;
  double slope_deviation_ = 0.0;
  double variance_by_exposure_ = 0.0;  // of E, over its mean
  double run_deviation_ = 0.0;
  std::vector<std::vector<double>> early_deviations_;  // runs of one worker, until the first drop of the rate
};

}  // namespace paceline

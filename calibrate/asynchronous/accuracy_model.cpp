#include "calibrate/asynchronous/accuracy_model.hpp"

#include <algorithm>
#include <cmath>
#include <map>

#include <boost/math/distributions/gamma.hpp>
#include <fmt/format.h>

#include "sim/base/check.hpp"
#include "sim/base/diagnostic.hpp"
#include "sim/base/order_statistics.hpp"

namespace paceline {
namespace {

constexpr double first_drop = 0.5;
constexpr double noise_after_drop = 0.001;

double progress_of(int evaluation) {
  return (evaluation + 1.0) / evaluations_of_a_job;
}

std::optional<double> value_at(const std::vector<RecordedEvaluation>& curve, double progress) {
  for (std::size_t i = 1; i < curve.size(); ++i) {
    const RecordedEvaluation& before = curve[i - 1];
    const RecordedEvaluation& after = curve[i];
    if (after.progress + 1e-4 < progress || after.progress <= before.progress) continue;
    const double share =
        std::clamp((progress - before.progress) / (after.progress - before.progress), 0.0, 1.0);
    return before.accuracy + share * (after.accuracy - before.accuracy);
  }
  return std::nullopt;
}

// A run's evaluations up to the first drop of the rate, less the mean curve.
std::vector<double> early_deviations(const AccuracyRun& run, const std::vector<double>& mean_curve) {
  std::vector<double> deviations;
  for (int k = 0; progress_of(k) <= first_drop; ++k) {
    const double mean = mean_curve[static_cast<std::size_t>(k)];
    deviations.push_back(value_at(run.curve, progress_of(k)).value_or(mean) - mean);
  }
  return deviations;
}

}  // namespace

double exposure_of(double workers) {
  return (workers - 1.0) / std::sqrt(workers);
}

std::vector<AccuracyRun> accuracy_runs(const AsynchronousRecords& records, const std::string& left_out) {
  std::vector<AccuracyRun> runs;
  for (const TrainingRecord& training : records.trainings)
    if (training.configuration.name != left_out)
      runs.push_back({training.configuration.name,
                      exposure_of(static_cast<double>(training.configuration.workers.size())),
                      training.final_accuracy, training.curve});
  return runs;
}

AccuracyModel::AccuracyModel(const std::vector<AccuracyRun>& runs) {
  struct Finals {
    double exposure = 0.0;
    std::vector<double> values;
  };
  std::map<std::string, Finals> by_group;
  std::map<double, std::vector<const AccuracyRun*>> by_exposure;
  for (const AccuracyRun& run : runs) {
    Finals& finals = by_group[run.group];
    finals.exposure = run.exposure;
    finals.values.push_back(run.final_accuracy);
    by_exposure[run.exposure].push_back(&run);
  }
  // Runs without staleness.
  double squares = 0.0;
  double count = 0.0;
  double groups = 0.0;
  for (const auto& [name, finals] : by_group) {
    if (finals.exposure > 0.0) continue;
    const Spread spread = spread_of(finals.values);
    const auto n = static_cast<double>(finals.values.size());
    base_ += spread.mean * n;
    squares += spread.deviation * spread.deviation * (n - 1.0);
    count += n;
    groups += 1.0;
  }
  if (!(squares > 0.0))
    throw UserError("how accuracies of runs differ is not recorded",
                    "at least two complete runs of one configuration with one worker tell it");
  base_ /= count;
  run_deviation_ = std::sqrt(squares / (count - groups));
  // Spread, then slope with weights by it.
  double excess = 0.0;
  double exposures = 0.0;
  for (const auto& [name, finals] : by_group) {
    if (finals.exposure <= 0.0 || finals.values.size() < 2) continue;
    const double deviation = spread_of(finals.values).deviation;
    const auto freedom = static_cast<double>(finals.values.size() - 1);
    excess += freedom * (deviation * deviation - run_deviation_ * run_deviation_);
    exposures += freedom * finals.exposure;
  }
  const double variance =
      exposures > 0.0 ? std::max(excess / exposures, 0.0) : 0.0;  // of accuracy, by exposure
  double weighted = 0.0;
  double weights = 0.0;
  for (const auto& [name, finals] : by_group) {
    if (finals.exposure <= 0.0) continue;
    const double weight = static_cast<double>(finals.values.size()) /
                          (run_deviation_ * run_deviation_ + variance * finals.exposure);
    weighted += weight * finals.exposure * (base_ - spread_of(finals.values).mean);
    weights += weight * finals.exposure * finals.exposure;
  }
  if (!(weights > 0.0))
    throw UserError("accuracies of several workers are not recorded",
                    "a complete run of two workers or more tells what they cost");
  slope_ = weighted / weights;
  slope_deviation_ = 1.0 / std::sqrt(weights);
  variance_by_exposure_ = slope_ > 0.0 ? variance / (slope_ * slope_) : 0.0;
  // Curves.
  for (const auto& [exposure, members] : by_exposure) {
    Group group{exposure, 0.0, {}};
    for (const AccuracyRun* run : members)
      group.mean += run->final_accuracy / static_cast<double>(members.size());
    for (int k = 0; k < evaluations_of_a_job; ++k) {
      std::vector<double> values;
      for (const AccuracyRun* run : members)
        if (const auto value = value_at(run->curve, progress_of(k))) values.push_back(*value);
      if (values.empty())
        throw UserError(fmt::format("no evaluation of {} is recorded around {:g} % of its updates",
                                    members.front()->group, 100.0 * progress_of(k)),
                        "evaluations stand in curves.csv");
      group.curve.push_back(spread_of(values).mean);
    }
    if (exposure <= 0.0)
      for (const AccuracyRun* run : members) early_deviations_.push_back(early_deviations(*run, group.curve));
    groups_.push_back(std::move(group));
  }
}

double AccuracyModel::curve_at(std::size_t evaluation, double exposure) const {
  for (std::size_t i = 1; i < groups_.size(); ++i) {
    const Group& low = groups_[i - 1];
    const Group& high = groups_[i];
    const bool is_last = i + 1 == groups_.size();
    if (exposure > high.exposure && !is_last) continue;
    // Beyond the last group the curve stays: an extrapolated line would leave the range.
    const double share = std::min((exposure - low.exposure) / (high.exposure - low.exposure), 1.0);
    return low.curve[evaluation] + share * (high.curve[evaluation] - low.curve[evaluation]);
  }
  return groups_.front().curve[evaluation];
}

PredictedCurve AccuracyModel::draw(const std::vector<double>& exposures, double slope_error,
                                   RandomStream& random) const {
  check(exposures.size() == evaluations_of_a_job, "an exposure for each evaluation");
  const double exposure = exposures.back();
  const double slope = std::max(slope_ + slope_error * slope_deviation_, 0.0);
  const double v = variance_by_exposure_;
  const double met =
      exposure > 0.0 && v > 0.0
          ? boost::math::quantile(boost::math::gamma_distribution<double>(exposure / v, v), random.uniform())
          : exposure;
  const double own = random.normal(0.0, run_deviation_);
  const std::vector<double>& early = early_deviations_[random.below(early_deviations_.size())];
  PredictedCurve curve;
  curve.final_accuracy = base_ - slope * met + own;
  const std::size_t last = evaluations_of_a_job - 1;
  for (int k = 0; k < evaluations_of_a_job; ++k) {
    const auto at = static_cast<std::size_t>(k);
    const bool has_dropped = progress_of(k) > first_drop;
    double value = 0.0;
    if (has_dropped)  // the curves are flat there: as far from the end as recorded
      value = curve.final_accuracy + std::min(curve_at(at, met) - curve_at(last, met), 0.0) +
              random.normal(0.0, noise_after_drop);
    else
      value = curve_at(at, exposure > 0.0 ? met * exposures[at] / exposure : met) + early[at];
    curve.accuracy.push_back(value);
  }
  curve.accuracy.back() = curve.final_accuracy;
  return curve;
}

}  // namespace paceline

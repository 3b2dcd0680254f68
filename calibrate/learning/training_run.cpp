#include "calibrate/learning/training_run.hpp"

#include <algorithm>

#include "sim/base/order_statistics.hpp"

namespace paceline {
namespace {

// An asynchronous phase ends late: workers finish the step they are in (12-26 steps of 8 workers were
// recorded).
constexpr double late_steps_per_worker = 4.0;

// Linear between the points of a curve; nothing outside it.
std::optional<double> value_at(const Curve& curve, double minibatches) {
  for (std::size_t i = 1; i < curve.size(); ++i) {
    const PositionedValue& before = curve[i - 1];
    const PositionedValue& after = curve[i];
    if (minibatches < before.minibatches || minibatches > after.minibatches) continue;
    const double width = after.minibatches - before.minibatches;
    const double share = width > 0.0 ? (minibatches - before.minibatches) / width : 1.0;
    return before.value + share * (after.value - before.value);
  }
  return std::nullopt;
}

std::vector<double> final_accuracies(const std::vector<TrainingRun>& runs) {
  std::vector<double> finals;
  for (const TrainingRun& run : runs) finals.push_back(run.final_accuracy);
  return finals;
}

}  // namespace

double TrainingPlan::workload_minibatches() const {
  double sum = 0.0;
  for (const PlanPhase& phase : phases) sum += phase.minibatches;
  return sum;
}

double TrainingPlan::first_drop() const {
  return drops_minibatches.empty() ? workload_minibatches() : drops_minibatches.front();
}

double TrainingPlan::minibatches_at_step(double step) const {
  double done = 0.0;
  for (const PlanPhase& phase : phases) {
    const double per_step = minibatches_per_step(phase);
    const bool last = &phase == &phases.back();
    const double length = phase.minibatches / per_step;
    const double steps = last ? step : std::min(step, length);
    done += steps * per_step;
    step -= steps;
    if (!last && !phase.synchronous && step <= late_steps_per_worker * workers) return done;
  }
  return done;
}

double TrainingPlan::step_at_minibatches(double minibatches) const {
  double steps = 0.0;
  for (const PlanPhase& phase : phases) {
    const bool last = &phase == &phases.back();
    const double here = last ? minibatches : std::min(minibatches, phase.minibatches);
    steps += here / minibatches_per_step(phase);
    minibatches -= here;
  }
  return steps;
}

std::vector<double> positions_of(const Curve& curve) {
  std::vector<double> positions;
  for (const PositionedValue& point : curve) positions.push_back(point.minibatches);
  return positions;
}

double RunGroup::mean_final_accuracy() const {
  return *mean_of(final_accuracies(runs));
}

std::optional<double> RunGroup::final_accuracy_deviation() const {
  return deviation_of(final_accuracies(runs));
}

std::vector<RunGroup> group_runs(const std::vector<TrainingRun>& runs) {
  std::vector<RunGroup> groups;
  for (const TrainingRun& run : runs) {
    auto found = std::ranges::find(groups, run.group, &RunGroup::name);
    if (found == groups.end()) found = groups.insert(groups.end(), RunGroup{run.group, {}});
    found->runs.push_back(run);
  }
  return groups;
}

std::optional<double> mean_of(const std::vector<double>& values) {
  return values.empty() ? std::nullopt : std::optional(spread_of(values).mean);
}

std::optional<double> deviation_of(const std::vector<double>& values) {
  return values.size() < 2 ? std::nullopt : std::optional(spread_of(values).deviation);
}

std::optional<double> mean_at(std::span<const Curve* const> curves, double minibatches) {
  std::vector<double> values;
  for (const Curve* curve : curves)
    if (const std::optional<double> value = value_at(*curve, minibatches)) values.push_back(*value);
  return mean_of(values);
}

}  // namespace paceline

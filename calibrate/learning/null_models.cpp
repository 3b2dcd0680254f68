#include "calibrate/learning/null_models.hpp"

#include <algorithm>

namespace paceline {
namespace {

bool is_pure(const TrainingPlan& plan) {
  return std::all_of(plan.phases.begin(), plan.phases.end(), [&](const PlanPhase& phase) {
    return phase.synchronous == plan.phases.front().synchronous;
  });
}

template <class Quantity>
PureValues pure_values(std::span<const TracedGroup> groups, Quantity quantity) {
  PureValues pure;
  for (const TracedGroup& group : groups) {
    if (!is_pure(group.group.plan())) continue;
    std::optional<double>& slot =
        group.group.plan().phases.front().synchronous ? pure.synchronous : pure.asynchronous;
    if (!slot) slot = quantity(group.group);
  }
  return pure;
}

}  // namespace

PureValues pure_final_accuracies(std::span<const TracedGroup> fitted_on) {
  return pure_values(fitted_on, [](const RunGroup& group) { return group.mean_final_accuracy(); });
}

PureValues pure_accuracies_at(std::span<const TracedGroup> fitted_on, double progress) {
  return pure_values(fitted_on, [&](const RunGroup& group) {
    return group.mean_accuracy_at(progress * group.plan().workload_minibatches());
  });
}

double synchronous_share(const TrainingPlan& plan) {
  double synchronous = 0.0;
  for (const PlanPhase& phase : plan.phases)
    if (phase.synchronous) synchronous += phase.minibatches;
  return synchronous / plan.workload_minibatches();
}

std::optional<double> linear_null(const PureValues& pure, const TrainingPlan& plan) {
  if (!pure.synchronous || !pure.asynchronous) return std::nullopt;
  const double share = synchronous_share(plan);
  return share * *pure.synchronous + (1.0 - share) * *pure.asynchronous;
}

std::optional<double> first_protocol_null(const PureValues& pure, const TrainingPlan& plan) {
  return plan.phases.front().synchronous ? pure.synchronous : pure.asynchronous;
}

std::optional<double> first_drop_null(const PredictedRuns& evaluations, const TrainingPlan& plan,
                                      const ClockRates& rates) {
  if (plan.drops_minibatches.empty()) return std::nullopt;
  const double drop = plan.drops_minibatches.front();
  for (const PredictedRun& run : evaluations.runs)
    for (const PositionedValue& point : run.accuracy)
      if (point.minibatches > drop) return time_at(plan, rates, point.minibatches);
  return std::nullopt;
}

}  // namespace paceline

#include "calibrate/learning/training_plan.hpp"

#include <algorithm>

namespace paceline {
namespace {

// An asynchronous phase ends late: workers finish the step they are in (12-26 steps of 8 workers were recorded).
constexpr double late_steps_per_worker = 4.0;

double minibatches_per_step(const TrainingPlan& plan, const PlanPhase& phase) {
  return phase.synchronous ? static_cast<double>(plan.workers) : 1.0;
}

}  // namespace

double TrainingPlan::workload_minibatches() const {
  double sum = 0.0;
  for (const PlanPhase& phase : phases) sum += phase.minibatches;
  return sum;
}

double TrainingPlan::minibatches_at_step(double step) const {
  double done = 0.0;
  for (const PlanPhase& phase : phases) {
    const double per_step = minibatches_per_step(*this, phase);
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
    steps += here / minibatches_per_step(*this, phase);
    minibatches -= here;
  }
  return steps;
}

}  // namespace paceline

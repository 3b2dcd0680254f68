#include "sim/learning/optimizer.hpp"

#include <algorithm>
#include <cmath>

#include "sim/base/check.hpp"

namespace paceline {
namespace {

double scaled(RateScaling scaling, double ratio) {
  switch (scaling) {
    case RateScaling::none:
      break;
    case RateScaling::linear:
      return ratio;
    case RateScaling::sqrt:
      return std::sqrt(ratio);
  }
  return 1.0;
}

double position(ScheduleBasis basis, const UpdateContext& update) {
  switch (basis) {
    case ScheduleBasis::epoch:
      break;
    case ScheduleBasis::progress:
      return update.progress;
    case ScheduleBasis::step:
      return static_cast<double>(update.step);
  }
  return update.epoch;
}

}  // namespace

double learning_rate_at(const OptimizerConfig& optimizer, const UpdateContext& update) {
  check(update.gradients >= 1 && update.samples >= 1 && update.initial_batch_samples >= 1,
        "an update combines at least one gradient of at least one sample");
  const auto gradients = static_cast<double>(update.gradients);
  const double batch_growth =
      static_cast<double>(update.samples) / (gradients * static_cast<double>(update.initial_batch_samples));
  double rate = optimizer.learning_rate * scaled(optimizer.worker_scaling, gradients) *
                scaled(optimizer.batch_scaling, batch_growth);
  const LearningRateSchedule& schedule = optimizer.schedule;
  const double reached = position(schedule.basis, update);
  for (const double milestone : schedule.milestones) {
    if (reached >= milestone) rate *= schedule.factor;
  }
  if (schedule.warmup) rate *= std::min(1.0, reached / *schedule.warmup);
  return rate;
}

double momentum_at(const OptimizerConfig& optimizer, const UpdateContext& update) {
  if (!update.since_switch) return optimizer.momentum;
  return optimizer.momentum * momentum_factor(optimizer.momentum_at_switch, *update.since_switch);
}

double velocity_factor_at_switch(const OptimizerConfig& optimizer) {
  switch (optimizer.velocity_at_switch) {
    case VelocityAtSwitch::keep:
      break;
    case VelocityAtSwitch::zero:
      return 0.0;
    case VelocityAtSwitch::scale:
      check(optimizer.velocity_scale.has_value(), "velocities are scaled by a factor");
      return *optimizer.velocity_scale;
  }
  return 1.0;
}

}  // namespace paceline

#include "sim/learning/optimizer.hpp"

#include <algorithm>
#include <cmath>
#include <numbers>

#include "sim/base/check.hpp"

namespace paceline {
namespace {

double scaled(RateScaling scaling, double ratio) {
  if (scaling == RateScaling::none) return 1.0;
  return scaling == RateScaling::linear ? ratio : std::sqrt(ratio);
}

double position(ScheduleBasis basis, const UpdateContext& update) {
  if (basis == ScheduleBasis::step) return static_cast<double>(update.step);
  return basis == ScheduleBasis::progress ? update.progress : update.epoch;
}

double stages_done(const MomentumAtSwitch& at_switch, const SinceSwitch& since) {
  check(at_switch.stage.has_value(), "a momentum rule in stages says how long one is");
  const CountUnit unit = at_switch.stage->unit;
  const double done = unit == CountUnit::updates   ? static_cast<double>(since.updates)
                      : unit == CountUnit::samples ? static_cast<double>(since.samples)
                                                   : since.epochs;
  return std::floor(done / at_switch.stage->value);
}

}  // namespace

double learning_rate_without_warmup(const OptimizerConfig& optimizer, const UpdateContext& update) {
  check(update.gradients >= 1 && update.samples >= 1 && update.initial_batch_samples >= 1,
        "an update combines at least one gradient of at least one sample");
  const auto gradients = static_cast<double>(update.gradients);
  double rate = optimizer.learning_rate * scaled(optimizer.worker_scaling, gradients);
  if (optimizer.batch_scaling != RateScaling::none)
    rate *=
        scaled(optimizer.batch_scaling, static_cast<double>(update.samples) /
                                            (gradients * static_cast<double>(update.initial_batch_samples)));
  const LearningRateSchedule& schedule = optimizer.schedule;
  const double reached = position(schedule.basis, update);
  if (schedule.shape == ScheduleShape::cosine) {
    const double begin = schedule.warmup.value_or(0.0);
    const double share = std::clamp((reached - begin) / (schedule.end - begin), 0.0, 1.0);
    const double left = 0.5 * (1.0 + std::cos(std::numbers::pi * share));
    return rate * (schedule.least + (1.0 - schedule.least) * left);
  }
  for (const double milestone : schedule.milestones) {
    if (reached >= milestone) rate *= schedule.factor;
  }
  return rate;
}

double learning_rate_at(const OptimizerConfig& optimizer, const UpdateContext& update) {
  const double rate = learning_rate_without_warmup(optimizer, update);
  const LearningRateSchedule& schedule = optimizer.schedule;
  if (!schedule.warmup) return rate;
  return rate * std::min(1.0, position(schedule.basis, update) / *schedule.warmup);
}

double momentum_factor(const MomentumAtSwitch& at_switch, const SinceSwitch& since) {
  const double share = 1.0 / static_cast<double>(since.workers);
  switch (at_switch.rule) {
    case MomentumRule::keep:
      break;
    case MomentumRule::zero:
      return 0.0;
    case MomentumRule::scaled:
      return share;
    case MomentumRule::scaled_until:
      return stages_done(at_switch, since) < 1.0 ? share : 1.0;
    case MomentumRule::staged:
      return std::min(1.0, share * std::exp2(stages_done(at_switch, since)));
    case MomentumRule::additive:
      return std::min(1.0, share * (1.0 + stages_done(at_switch, since)));
  }
  return 1.0;
}

double momentum_at(const OptimizerConfig& optimizer, const UpdateContext& update) {
  if (!update.since_switch) return optimizer.momentum;
  return optimizer.momentum * momentum_factor(optimizer.momentum_at_switch, *update.since_switch);
}

double velocity_factor_at_switch(const OptimizerConfig& optimizer) {
  if (optimizer.velocity_at_switch == VelocityAtSwitch::keep) return 1.0;
  if (optimizer.velocity_at_switch == VelocityAtSwitch::zero) return 0.0;
  check(optimizer.velocity_scale.has_value(), "velocities are scaled by a factor");
  return *optimizer.velocity_scale;
}

}  // namespace paceline

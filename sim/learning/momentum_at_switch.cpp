#include "sim/learning/momentum_at_switch.hpp"

#include <algorithm>
#include <cmath>

#include "sim/base/check.hpp"

namespace paceline {
namespace {

double amount(CountUnit unit, const SinceSwitch& since) {
  switch (unit) {
    case CountUnit::updates:
      return static_cast<double>(since.updates);
    case CountUnit::samples:
      return static_cast<double>(since.samples);
    case CountUnit::epochs:
      break;
  }
  return since.epochs;
}

double stages_done(const MomentumAtSwitch& at_switch, const SinceSwitch& since) {
  check(at_switch.stage.has_value(), "a momentum rule in stages says how long one is");
  return std::floor(amount(at_switch.stage->unit, since) / at_switch.stage->value);
}

}  // namespace

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

}  // namespace paceline

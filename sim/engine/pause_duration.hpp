// How long a worker rests, by what for (sim/cost/fixed_costs.hpp).
#pragma once

#include "sim/cost/fixed_costs.hpp"
#include "sim/training/action.hpp"

namespace paceline {

[[nodiscard]] inline Seconds duration_of(const Pause& pause, const FixedCosts& costs) {
  switch (pause.kind) {
    case PauseKind::start_up:
      return costs.start_up.value_or(RestartCost{}).of(pause.worker);
    case PauseKind::switching:
      return costs.switching.at(pause.phase).of(pause.worker);
    case PauseKind::checkpoint:
      return costs.checkpoint_in(pause.phase);
    case PauseKind::regrouping:
      return costs.regrouping;
    case PauseKind::probing:
      return costs.probing;
    case PauseKind::evaluation:
      return costs.evaluation;
    case PauseKind::adjustment:
      break;
  }
  return costs.adjustment;
}

}  // namespace paceline

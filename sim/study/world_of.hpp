// What a scenario says about the world, in the world's own terms. Private to sim/study.
#pragma once

#include "sim/cluster/conditions.hpp"
#include "sim/cost/compute_time.hpp"
#include "sim/scenario/scenario.hpp"

namespace paceline {

[[nodiscard]] inline JitterOverrides jitter_overrides(const Scenario& scenario) {
  return {scenario.jitter.run_cv, scenario.jitter.worker_cv, scenario.jitter.iteration_cv};
}

// Throws UserError when the trace file makes no sense.
[[nodiscard]] inline Heterogeneity heterogeneity(const Scenario& scenario) {
  Heterogeneity changes = scenario.heterogeneity.changes;
  if (!scenario.heterogeneity.trace.empty())
    changes.trace = read_trace(scenario.heterogeneity.trace, scenario.cluster.workers.size());
  return changes;
}

}  // namespace paceline

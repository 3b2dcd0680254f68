// What the learner `network` holds at once, in sets of parameters, and when that is too much.
#include <doctest/doctest.h>

#include "sim/base/diagnostic.hpp"
#include "sim/study/checks_before_running.hpp"

using namespace paceline;

namespace {

LoadedScenario loaded_with(std::size_t workers, PhaseConfig phase) {
  LoadedScenario loaded;
  loaded.scenario.learner.kind = LearnerKind::network;
  loaded.scenario.cluster.workers.resize(workers);
  loaded.scenario.synchronization.resize(1);
  loaded.scenario.synchronization.front().config = std::move(phase);
  return loaded;
}

}  // namespace

TEST_CASE("every worker has its parameters and a gradient, and more of its own when it steps alone") {
  // Shared: parameters, a sum, a velocity, and what LibTorch holds twice.
  LoadedScenario loaded = loaded_with(8, {});
  CHECK(parameter_sets(loaded.scenario) == 8 * 2 + 5);
  // Momentum at the workers: a velocity each.
  loaded.scenario.job.optimizer.momentum_at = MomentumPlace::workers;
  CHECK(parameter_sets(loaded.scenario) == 8 * 3 + 5);
  // Local training: also where the stretch began; an outer velocity and a buffer. AdamW: two moments.
  loaded = loaded_with(8, {.local = LocalTraining{}});
  CHECK(parameter_sets(loaded.scenario) == 8 * 4 + 7);
  loaded.scenario.job.optimizer.kind = OptimizerKind::adamw;
  CHECK(parameter_sets(loaded.scenario) == 8 * 5 + 8);
}

TEST_CASE("local training says what it holds, and more than there is is refused") {
  // 64 workers: 64 · 4 + 7 = 263 sets of 100 MiB.
  const LoadedScenario loaded = loaded_with(64, {.local = LocalTraining{}});
  Profiles profiles;
  profiles.distinct.front().parameter_bytes = Bytes{1024.0 * 1024.0 * 100.0};
  CHECK(check_network_memory(loaded, profiles, 26300.5).size() == 1);
  CHECK_THROWS_WITH_AS(check_network_memory(loaded, profiles, 26299.5),
                       doctest::Contains("263 sets of 105 MB, 27.6 GB; this machine has 27.6 GB to give"),
                       UserError);
  CHECK(check_network_memory(loaded_with(64, {}), profiles, 26300.5).empty());
}

// Rules that join the keys of `batching` with each other and with the rest.
#include <fmt/format.h>

#include "sim/scenario/checks/check.hpp"

namespace paceline {
namespace {

void check_bounds(const Scenario& scenario, const Reading& reading) {
  const BatchingConfig& batching = scenario.batching;
  Problems& problems = reading.problems();
  if (!all_sound(reading,
                 {"batching.controller", "batching.initial", "batching.minimum", "batching.maximum"}))
    return;
  const bool used = batching.controller->is_bounded;
  const auto place = [&](const char* bound) {
    return reading.spot(reading.is_given(bound) ? bound : "batching.initial");
  };
  const std::string initial = fmt::format("`initial` ({})", batching.initial_samples);
  if ((used || reading.is_given("batching.minimum")) && batching.minimum_samples > batching.initial_samples)
    problems.error(place("batching.minimum"),
                   fmt::format("`minimum` ({}) is above {}", batching.minimum_samples, initial), "");
  if ((used || reading.is_given("batching.maximum")) && batching.maximum_samples < batching.initial_samples)
    problems.error(place("batching.maximum"),
                   fmt::format("`maximum` ({}{}) is below {}", batching.maximum_samples,
                               reading.is_given("batching.maximum") ? "" : ", the default", initial),
                   "");
}

// Without a dead-band the slightest difference of two times changes batches at every look.
void check_dead_band(const Scenario& scenario, const Reading& reading) {
  const auto dead_band = scenario.batching.controller.parameters().value("dead_band");
  if (!dead_band || std::get<double>(*dead_band) > 0.0) return;
  const JitterOverrides& jitter = scenario.jitter;
  const bool is_still = jitter.iteration_cv && *jitter.iteration_cv == 0.0;
  if (is_still) return;
  reading.problems().warning(reading.spot("batching.dead_band"),
                             "a dead-band of 0 with jitter: every look changes batches, whether the workers' "
                             "speeds have changed or not");
}

void check_flops(const Scenario& scenario, const Reading& reading) {
  const BatchingConfig& batching = scenario.batching;
  const bool uses_shares = batching.controller->uses_shares || batching.start == StartBatches::shares;
  if (!uses_shares || batching.shares != ShareBasis::flops || !reading.is_sound("cluster.workers")) return;
  for (std::size_t w = 0; w < scenario.cluster.workers.size(); ++w)
    if (!scenario.cluster.workers[w].flops)
      reading.problems().error(reading.spot(fmt::format("cluster.workers.{}", w)),
                               "`batching.shares: flops` needs `flops` of every worker",
                               "for example `flops: 2 TFLOP/s`");
}

void check_policies(const Scenario& scenario, const Reading& reading) {
  const BatchControllerChoice& controller = scenario.batching.controller;
  if (controller->allows_partial_waiting || !reading.is_sound("synchronization")) return;
  for (std::size_t i = 0; i < scenario.synchronization.size(); ++i)
    if (scenario.synchronization[i].config.policy->waits_for == WaitsFor::some)
      reading.problems().error(
          reading.spot(phase_path(i, "policy")),
          fmt::format("`controller: {}` is defined for bsp and asp only", controller->word),
          "choose another batch controller, for example proportional-repair");
}

}  // namespace

void check_batching(const Scenario& scenario, const Reading& reading) {
  check_bounds(scenario, reading);
  if (!reading.is_sound("batching")) return;
  check_dead_band(scenario, reading);
  check_flops(scenario, reading);
  check_policies(scenario, reading);
}

}  // namespace paceline

// Rules that join the keys of `batching` with each other and with the rest.
#include <functional>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "sim/policy/batching/batch_rule.hpp"
#include "sim/scenario/checks/semantic_check_parts.hpp"

namespace paceline {
namespace {

void check_bounds(const Scenario& scenario, const Reading& reading) {
  const BatchingConfig& batching = scenario.batching;
  Problems& problems = reading.problems();
  if (!all_sound(reading,
                 {"batching.controller", "batching.initial", "batching.minimum", "batching.maximum"}))
    return;
  const bool used = batching.controller != BatchControllerKind::uniform;
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

// The words of the controllers of which something holds.
std::string words_where(const std::function<bool(const BatchControllerRule&)>& holds) {
  std::vector<std::string_view> words;
  for (const BatchControllerRule& rule : batch_controller_rules())
    if (holds(rule)) words.push_back(rule.word);
  return fmt::format("{}", fmt::join(words, ", "));
}

void check_unused_keys(const Scenario& scenario, const Reading& reading) {
  const std::string controller = "batching.controller";
  const BatchControllerRule& rule = rule_of(scenario.batching.controller);
  const auto check_use = [&](const std::string& key,
                             const std::function<bool(const BatchControllerRule&)>& uses) {
    if (uses(rule) || !reading.is_given(key) || !same_source(reading, key, controller)) return;
    reading.problems().warning(reading.spot(key),
                               fmt::format("`{}` is only used by `controller: {}`", key, words_where(uses)));
  };
  const auto adjusts = [](const BatchControllerRule& r) { return r.adjusts; };
  check_use("batching.dead_band", [](const BatchControllerRule& r) { return r.uses_dead_band; });
  check_use("batching.smoothing", [](const BatchControllerRule& r) { return r.uses_smoothing; });
  check_use("batching.adjust_every", adjusts);
  check_use("batching.adjustment_cost", adjusts);
  check_use("batching.start", adjusts);
}

// Without a dead-band the slightest difference of two times changes batches at every look.
void check_dead_band(const Scenario& scenario, const Reading& reading) {
  const BatchControllerRule& rule = rule_of(scenario.batching.controller);
  if (!rule.uses_dead_band || dead_band(scenario.batching) > 0.0) return;
  const JitterConfig& jitter = scenario.jitter;
  const bool is_still = jitter.iteration_cv && *jitter.iteration_cv == 0.0;
  if (is_still) return;
  reading.problems().warning(reading.spot("batching.dead_band"),
                             "a dead-band of 0 with jitter: every look changes batches, whether the workers' "
                             "speeds have changed or not");
}

void check_flops(const Scenario& scenario, const Reading& reading) {
  const BatchingConfig& batching = scenario.batching;
  const bool uses_shares =
      batching.controller == BatchControllerKind::fixed_shares || batching.start == StartBatches::shares;
  if (!uses_shares || batching.shares != ShareBasis::flops || !reading.is_sound("cluster.workers")) return;
  for (std::size_t w = 0; w < scenario.cluster.workers.size(); ++w)
    if (!scenario.cluster.workers[w].flops)
      reading.problems().error(reading.spot(fmt::format("cluster.workers.{}", w)),
                               "`batching.shares: flops` needs `flops` of every worker",
                               "for example `flops: 2 TFLOP/s`");
}

void check_controller_limits(const Scenario& scenario, const Reading& reading) {
  const BatchControllerRule& rule = rule_of(scenario.batching.controller);
  const auto& every = scenario.batching.adjust_every;
  if (rule.only_at_epochs && every && !std::holds_alternative<EveryEpochs>(*every))
    reading.problems().error(reading.spot("batching.adjust_every"),
                             fmt::format("`controller: {}` adjusts at epochs", rule.word),
                             "for example `adjust_every: 1 epochs`");
  if (!rule.only_bsp_and_asp || !reading.is_sound("synchronization")) return;
  for (std::size_t i = 0; i < scenario.synchronization.size(); ++i)
    if (!is_bsp_or_asp(rule_of(scenario.synchronization[i].config.policy)))
      reading.problems().error(reading.spot(phase_path(i, "policy")),
                               fmt::format("`controller: {}` is defined for bsp and asp only", rule.word),
                               "choose another batch controller, for example proportional-repair");
}

}  // namespace

void check_batching(const Scenario& scenario, const Reading& reading) {
  check_bounds(scenario, reading);
  if (!reading.is_sound("batching.controller")) return;
  check_unused_keys(scenario, reading);
  if (!reading.is_sound("batching")) return;
  check_dead_band(scenario, reading);
  check_flops(scenario, reading);
  check_controller_limits(scenario, reading);
}

}  // namespace paceline

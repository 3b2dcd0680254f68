// Rules that join `reaction` with the rest of a scenario.
#include <algorithm>

#include <fmt/format.h>

#include "sim/scenario/checks/check.hpp"

namespace paceline {
namespace {

std::vector<PhaseConfig> configs_of(const std::vector<PhaseEntry>& phases) {
  std::vector<PhaseConfig> configs;
  for (const PhaseEntry& phase : phases) configs.push_back(phase.config);
  return configs;
}

// What a policy that leaves phases needs of each phase it may leave.
void check_phase_to_leave(const Scenario& scenario, std::size_t phase, const Reading& reading) {
  Problems& problems = reading.problems();
  const PhaseEntry& entry = scenario.synchronization[phase];
  if (entry.length && std::holds_alternative<Seconds>(*entry.length))
    problems.error(reading.spot(phase_path(phase, "length")),
                   "a phase that may be left and taken up again cannot end by time",
                   "give a `share`, or a `length` in updates or epochs");
  const bool has_cost = std::ranges::any_of(
      std::initializer_list<const char*>{"switch_cost", "switch_cost_per_worker", "switch_sleep"},
      [&](const char* key) { return reading.is_given(phase_path(phase, key)); });
  if (!has_cost)
    problems.warning(reading.spot(phase_path(phase, "policy")),
                     "coming back to this phase after a straggler costs nothing: it has no `switch_cost`",
                     "write `switch_cost: 0 s` if that is meant");
}

}  // namespace

void check_reaction(const Scenario& scenario, const Reading& reading) {
  if (!scenario.reaction || !all_sound(reading, {"reaction.policy", "synchronization", "cluster.workers"}))
    return;
  Problems& problems = reading.problems();
  const SwitchChoice& rule = scenario.reaction->policy;
  const Spot policy = reading.spot("reaction.policy");
  if (!rule->watches) return;
  const std::vector<PhaseConfig> phases = configs_of(scenario.synchronization);
  if (std::ranges::none_of(phases, is_watched))
    problems.error(policy, fmt::format("`policy: {}` has nothing to watch: no phase is `bsp`", rule->word),
                   "stragglers matter where all workers wait for each other");
  // Of two workers each is as far from their mean as the deviation: who is slow would be a matter of
  // rounding.
  if (scenario.cluster.workers.size() < 3)
    problems.error(policy, "who straggles is told from the others: at least 3 workers are needed",
                   "remove `reaction`");
  if (const BatchControllerChoice& controller = scenario.batching.controller; controller->adjusts)
    problems.error(
        policy,
        fmt::format("`controller: {}` changes batches, and with them throughputs: a smaller batch would "
                    "be taken for a straggler",
                    controller->word),
        "use a controller that keeps its batches, `uniform` or `static`, or remove `reaction`");
  if (rule->drops_workers && !scenario.heterogeneity.changes.membership.empty())
    problems.error(policy,
                   fmt::format("`policy: {}` cannot be combined with `heterogeneity.membership`", rule->word),
                   "workers are dropped by the policy, or leave by themselves");
  if (!rule->leaves_phases) return;
  bool leaves_some = false;
  for (std::size_t i = 0; i < phases.size(); ++i) {
    if (!is_watched(phases[i]) || !asynchronous_phase_after(phases, i)) continue;
    leaves_some = true;
    check_phase_to_leave(scenario, i, reading);
  }
  if (!leaves_some)
    problems.error(
        policy,
        fmt::format("`policy: {}` has nowhere to go: no `asp` phase follows a `bsp` phase", rule->word),
        "add one to `synchronization`, for example `{policy: asp, transport: server, share: 95 %}`");
}

}  // namespace paceline

#include "sim/policy/switching/switch_policy.hpp"

#include <array>

#include "sim/policy/switching/watching_switch.hpp"

namespace paceline {
namespace {

class FixedSwitch final : public SwitchPolicy {
 public:
  FixedSwitch(std::span<const PhaseConfig>, std::size_t) {}
};

}  // namespace

std::string_view to_string(DecisionKind kind) {
  constexpr std::array<std::string_view, 7> names{"alarm", "clear", "leave-phase", "return-to-phase",
                                                  "drop",  "probe", "restore"};
  return names.at(static_cast<std::size_t>(kind));
}

// One line for each policy here and in the list below.
SwitchRule greedy_switch_rule();
SwitchRule elastic_switch_rule();

std::span<const SwitchRule> SwitchRule::all() {
  static const std::array rules{
      SwitchRule{.word = "fixed",
                 .description = "the phases as written, whatever happens",
                 .make = make_switch<FixedSwitch>},
      SwitchRule{.word = "watch",
                 .description = "the same, but stragglers are looked for in bsp phases and noted",
                 .parameters = Parameters::of<DetectionConfig>(),
                 .watches = true,
                 .make = make_switch<WatchingSwitch, DetectionConfig>},
      greedy_switch_rule(),
      elastic_switch_rule(),
  };
  return rules;
}

std::unique_ptr<SwitchPolicy> make_switch_policy(const SwitchChoice& policy,
                                                 std::span<const PhaseConfig> phases, std::size_t workers) {
  return policy->make(policy.parameters(), phases, workers);
}

bool is_watched(const PhaseConfig& phase) {
  return phase.policy->waits_for == WaitsFor::all;
}

std::optional<std::size_t> asynchronous_phase_after(std::span<const PhaseConfig> phases, std::size_t phase) {
  for (std::size_t p = phase + 1; p < phases.size(); ++p)
    if (phases[p].policy->waits_for == WaitsFor::nobody) return p;
  return std::nullopt;
}

}  // namespace paceline

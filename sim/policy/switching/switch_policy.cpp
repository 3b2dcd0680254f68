#include "sim/policy/switching/switch_policy.hpp"

#include <algorithm>

#include "sim/base/check.hpp"

namespace paceline {

std::string_view to_string(DecisionKind kind) {
  switch (kind) {
    case DecisionKind::alarm:
      return "alarm";
    case DecisionKind::clear:
      return "clear";
    case DecisionKind::leave_phase:
      return "leave-phase";
    case DecisionKind::return_to_phase:
      return "return-to-phase";
    case DecisionKind::drop:
      return "drop";
    case DecisionKind::probe:
      return "probe";
    case DecisionKind::restore:
      return "restore";
  }
  return "unknown";
}

std::span<const SwitchRule> switch_rules() {
  static const std::vector<SwitchRule> rules{
#define PACELINE_SWITCH_RULE(name) name##_switch_rule(),
#include "sim/policy/switching/switch_rules.inc"
#undef PACELINE_SWITCH_RULE
  };
  return rules;
}

const SwitchRule& rule_of(SwitchKind kind) {
  const auto rules = switch_rules();
  const auto found = std::ranges::find(rules, kind, &SwitchRule::kind);
  check(found != rules.end(), "a switch policy without a rule");
  return *found;
}

std::unique_ptr<SwitchPolicy> make_switch_policy(const ReactionConfig& config,
                                                 std::span<const PhaseConfig> phases, std::size_t workers) {
  return rule_of(config.policy).make(config, phases, workers);
}

bool is_watched(const PhaseConfig& phase) {
  return rule_of(phase.policy).combines_all_members;
}

std::optional<std::size_t> asynchronous_phase_after(std::span<const PhaseConfig> phases, std::size_t phase) {
  for (std::size_t p = phase + 1; p < phases.size(); ++p)
    if (rule_of(phases[p].policy).may_exchange_parameters) return p;
  return std::nullopt;
}

std::vector<Decision> changes_of_standing(std::span<const Judgement> judged, std::vector<bool>& straggling) {
  std::vector<Decision> decisions;
  for (const Judgement& judgement : judged) {
    const std::size_t w = judgement.worker.value;
    if (judgement.is_straggler == straggling.at(w)) continue;
    straggling[w] = judgement.is_straggler;
    decisions.push_back(
        {judgement.is_straggler ? DecisionKind::alarm : DecisionKind::clear, judgement.worker, judgement});
  }
  return decisions;
}

}  // namespace paceline

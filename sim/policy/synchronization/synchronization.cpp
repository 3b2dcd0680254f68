#include "sim/policy/synchronization/synchronization.hpp"

#include <array>

#include "sim/policy/synchronization/synchronization_rule.hpp"

namespace paceline {

std::span<const SynchronizationRule> synchronization_rules() {
  static const std::array rules{
#define PACELINE_RULE(name) name##_rule(),
#include "sim/policy/synchronization/rules.inc"
#undef PACELINE_RULE
  };
  return rules;
}

const SynchronizationRule& rule_of(SynchronizationKind kind) {
  return synchronization_rules()[static_cast<std::size_t>(kind)];
}

std::unique_ptr<SynchronizationPolicy> make_synchronization(const PhaseConfig& phase) {
  return rule_of(phase.policy).make(phase.parameter);
}

}  // namespace paceline

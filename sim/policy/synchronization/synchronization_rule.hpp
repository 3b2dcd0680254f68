// What there is to know about a synchronization policy before it runs: its word in scenarios, its parameter, its limits.
//
// A policy is one file: a class behind SynchronizationPolicy (synchronization.hpp) and a function `NAME_rule` that
// returns its description. `NAME` stands in one line of rules.inc, from which the enumeration, the words a scenario
// accepts, their checks and the factory all follow.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>

namespace paceline {

class SynchronizationPolicy;

enum class SynchronizationKind {
#define PACELINE_RULE(name) name,
#include "sim/policy/synchronization/rules.inc"
#undef PACELINE_RULE
};

// The number a policy needs, as a key of its phase.
struct RuleParameter {
  std::string_view key;
  std::string_view description;
  std::int64_t minimum = 0;
  // What is wrong with a value among so many workers; empty when nothing is.
  std::string (*complaint)(std::int64_t value, std::int64_t workers) = nullptr;
};

struct SynchronizationRule {
  SynchronizationKind kind;
  std::string_view word;
  std::string_view description;
  std::optional<RuleParameter> parameter;
  // Every update combines all members: then an all-reduce can carry it.
  bool combines_all_members = false;
  // Servers that see gradients in different orders still combine the same ones: needed with several servers.
  bool decides_alike_on_every_server = false;
  // Workers never wait for each other: then they can also exchange parameters.
  bool may_exchange_parameters = false;
  // Gradients in an update of so many workers.
  double (*gradients_per_update)(double workers, std::int64_t parameter) = nullptr;
  std::unique_ptr<SynchronizationPolicy> (*make)(std::int64_t parameter) = nullptr;
};

#define PACELINE_RULE(name) [[nodiscard]] SynchronizationRule name##_rule();
#include "sim/policy/synchronization/rules.inc"
#undef PACELINE_RULE

// Every update combines all members, or one of them that waits for nobody.
[[nodiscard]] inline bool is_bsp_or_asp(const SynchronizationRule& rule) {
  return rule.combines_all_members || rule.may_exchange_parameters;
}

// All of them, in the order of rules.inc.
[[nodiscard]] std::span<const SynchronizationRule> synchronization_rules();
[[nodiscard]] const SynchronizationRule& rule_of(SynchronizationKind kind);

}  // namespace paceline

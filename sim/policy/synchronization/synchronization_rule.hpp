// What there is to know about a synchronization policy before it runs: its word in scenarios, its parameters,
// its limits.
//
// A policy is one file: a class behind SynchronizationPolicy (synchronization.hpp) and a function that
// returns its rule. The function stands in the list of synchronization.cpp; everything else follows from the
// rule.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string_view>

#include "sim/policy/parameters.hpp"

namespace paceline {

class SynchronizationPolicy;

// Whose gradients a worker waits for before it goes on.
enum class WaitsFor {
  all,    // every update combines all members: an all-reduce can carry it, and a straggler holds everybody up
  some,   // as many as the policy's parameters say
  nobody  // then workers can also exchange parameters
};

struct SynchronizationRule {
  std::string_view word;
  std::string_view synonym{};  // a second word for the same
  std::string_view description;
  Parameters parameters{};
  WaitsFor waits_for = WaitsFor::some;
  // Servers that see gradients in different orders still combine the same ones: needed with several servers.
  bool decides_alike_on_every_server = false;
  // What is wrong with these parameters among so many workers; absent where their own ranges say all.
  std::optional<Complaint> (*complaint)(const Parameters& parameters, std::int64_t workers) = nullptr;
  std::unique_ptr<SynchronizationPolicy> (*make)(const Parameters& parameters) = nullptr;

  [[nodiscard]] static std::span<const SynchronizationRule> all();
};

using SynchronizationChoice = Chosen<SynchronizationRule>;

[[nodiscard]] std::optional<Complaint> complaint_about(const SynchronizationChoice& policy,
                                                       std::int64_t workers);
// Gradients in an update of so many workers.
[[nodiscard]] std::size_t gradients_per_update(const SynchronizationChoice& policy, std::size_t workers);

}  // namespace paceline

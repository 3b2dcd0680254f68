// Which phase comes when, and who takes part: the reaction to what is seen of the workers while a job runs.
//
// Models:      a coordinator that goes through the phases of a scenario in their order (fixed) and, with a
//              watching policy, looks at its workers while a phase lasts in which all wait for all (BSP):
//              watch only notes alarms; greedy and elastic react, each as its file says.
// Units:       iterations and updates.
// Assumptions: only what has happened is seen: decisions follow the events that justify them. A worker that
//              was taken in again starts without a record. At least one worker stays.
// Not modelled: predictions of stragglers; reactions in phases in which not all wait for all.
// Source:      Sync-Switch (Li et al., ICDCS 2021), its online policy: greedy, elastic, and the baseline that
//              does nothing. The probe of elastic is ours: without one a dropped worker can show nothing.
//
// To add a policy: one file beside greedy_switch.cpp, its line in the list of switch_policy.cpp, one test.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string_view>
#include <vector>

#include "sim/policy/switching/straggler_detector.hpp"
#include "sim/policy/synchronization/phase.hpp"

namespace paceline {

enum class DecisionKind { alarm, clear, leave_phase, return_to_phase, drop, probe, restore };
[[nodiscard]] std::string_view to_string(DecisionKind kind);

struct Decision {
  DecisionKind kind = DecisionKind::alarm;
  WorkerId worker;                          // it is about, or who gave rise to it
  std::optional<Judgement> judgement = {};  // it rests on; absent: a phase begins, with everybody
};

// What comes of an observation.
struct Reaction {
  std::vector<Judgement> judged;  // when a window ended
  std::vector<Decision> decisions;
};

class SwitchPolicy {
 public:
  SwitchPolicy() = default;
  SwitchPolicy(const SwitchPolicy&) = delete;
  SwitchPolicy& operator=(const SwitchPolicy&) = delete;
  virtual ~SwitchPolicy() = default;

  // Whether it wants to be told of iterations at all.
  [[nodiscard]] virtual bool watches() const { return false; }
  // The phase to go to when this one is left early; for policies that leave phases.
  [[nodiscard]] virtual std::optional<std::size_t> detour_from(std::size_t) const { return std::nullopt; }
  // Updates between two probes of dropped workers; for policies that drop workers.
  [[nodiscard]] virtual std::optional<std::int64_t> probe_every_updates() const { return std::nullopt; }

  // These workers take part in this phase from now on.
  virtual void on_members(std::size_t, std::span<const WorkerId>) {}
  // A worker of these has finished an iteration that took it this long, without waiting for others.
  virtual Reaction on_iteration(WorkerId, std::int64_t, Seconds) { return {}; }
  // The same of a dropped worker that was probed.
  virtual Reaction on_probe(WorkerId, std::int64_t, Seconds) { return {}; }
};

struct SwitchRule {
  std::string_view word;
  std::string_view synonym{};  // a second word for the same
  std::string_view description;
  Parameters parameters{};
  bool watches = false;
  bool leaves_phases = false;
  bool drops_workers = false;
  std::unique_ptr<SwitchPolicy> (*make)(const Parameters& parameters, std::span<const PhaseConfig> phases,
                                        std::size_t workers) = nullptr;

  [[nodiscard]] static std::span<const SwitchRule> all();
};

// For the rule of a policy constructed from its parameters (if any), the phases and the number of workers.
template <class Policy, class... Struct>
std::unique_ptr<SwitchPolicy> make_switch(const Parameters& parameters, std::span<const PhaseConfig> phases,
                                          std::size_t workers) {
  return std::make_unique<Policy>(parameters.as<Struct>()..., phases, workers);
}

using SwitchChoice = Chosen<SwitchRule>;

[[nodiscard]] std::unique_ptr<SwitchPolicy> make_switch_policy(const SwitchChoice& policy,
                                                               std::span<const PhaseConfig> phases,
                                                               std::size_t workers);

// Whether all workers of a phase wait for each other: then a straggler holds everybody up.
[[nodiscard]] bool is_watched(const PhaseConfig& phase);
// The first phase after this one in which nobody waits for anybody.
[[nodiscard]] std::optional<std::size_t> asynchronous_phase_after(std::span<const PhaseConfig> phases,
                                                                  std::size_t phase);

}  // namespace paceline

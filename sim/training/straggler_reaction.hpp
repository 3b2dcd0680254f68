// What the switch policy is told of the workers, and what becomes of its decisions.
//
// Models:      a worker's own time of an iteration (computing and transfers, no waiting) is told once the
//              update it went into is released, with what the serial coordinator saw of it: how much longer
//              than with the others it was busy with this worker. Decisions about phases take effect at once,
//              those about members between two rounds.
// Units:       seconds, samples.
#pragma once

#include <algorithm>
#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <utility>
#include <vector>

#include "sim/policy/switching/switch_policy.hpp"
#include "sim/training/action.hpp"
#include "sim/training/phases.hpp"
#include "sim/training/workers.hpp"

namespace paceline {

class StragglerReaction {
 public:
  explicit StragglerReaction(std::unique_ptr<SwitchPolicy> policy) : policy_(std::move(policy)) {}

  [[nodiscard]] bool watches() const { return policy_->watches(); }
  void set_members(std::size_t phase, std::span<const WorkerId> members) {
    if (watches()) policy_->on_members(phase, members);
  }

  void note_iteration(WorkerId worker, std::int64_t samples, Seconds own_time) {
    if (watches()) noted_.push_back({worker, samples, own_time});
  }
  void note_coordination(WorkerId worker, Seconds time) {
    if (watches()) coordinated_.emplace_back(worker, time);
  }
  // What all workers have in common tells nothing.
  void end_coordination() {
    if (coordinated_.empty()) return;
    const Seconds least =
        std::ranges::min_element(coordinated_, {}, &std::pair<WorkerId, Seconds>::second)->second;
    for (Noted& noted : noted_)
      for (const auto& [worker, time] : coordinated_)
        if (worker == noted.worker) noted.own_time += time - least;
    coordinated_.clear();
  }
  void forget_notes() { noted_.clear(); }
  // Tells the policy what was noted of those who still take part. Until somebody who is to be dropped is gone
  // nobody is judged: of each window somebody remains, of two perhaps nobody.
  void tell(const Workers& workers, Phases& phases, Actions& actions) {
    for (const Noted& noted : std::exchange(noted_, {}))
      if (workers[noted.worker].is_member() && regrouping_.drop.empty())
        act_on(policy_->on_iteration(noted.worker, noted.samples, noted.own_time), phases, actions);
  }
  void tell_probe(WorkerId worker, std::int64_t samples, Seconds own_time, Phases& phases, Actions& actions) {
    act_on(policy_->on_probe(worker, samples, own_time), phases, actions);
  }

  // Whether dropped workers are to be probed after so many updates.
  [[nodiscard]] bool probes_after(std::uint64_t updates) const {
    const std::optional<std::int64_t> every = policy_->probe_every_updates();
    return every && updates % static_cast<std::uint64_t>(*every) == 0;
  }
  // Who is to be dropped, and taken in again, before the next round.
  struct Regrouping {
    std::vector<WorkerId> drop;
    std::vector<WorkerId> restore;
  };
  [[nodiscard]] bool wants_regrouping() const {
    return !regrouping_.drop.empty() || !regrouping_.restore.empty();
  }
  [[nodiscard]] Regrouping take_regrouping() { return std::exchange(regrouping_, {}); }

  // The worker is gone.
  void forget(WorkerId worker) {
    std::erase(regrouping_.drop, worker);
    std::erase(regrouping_.restore, worker);
  }

 private:
  struct Noted {
    WorkerId worker;
    std::int64_t samples = 0;
    Seconds own_time;
  };
  void act_on(const Reaction& reaction, Phases& phases, Actions& actions) {
    if (!reaction.judged.empty()) actions.emplace_back(Judge{reaction.judged});
    for (const Decision& decision : reaction.decisions) {
      actions.emplace_back(Decide{decision});
      if (decision.kind == DecisionKind::leave_phase) phases.leave_for(policy_->detour_from(phases.index()));
      if (decision.kind == DecisionKind::return_to_phase) phases.end();
      if (decision.kind == DecisionKind::drop) regrouping_.drop.push_back(decision.worker);
      if (decision.kind == DecisionKind::restore) regrouping_.restore.push_back(decision.worker);
    }
  }

  std::unique_ptr<SwitchPolicy> policy_;
  std::vector<Noted> noted_;
  std::vector<std::pair<WorkerId, Seconds>> coordinated_;
  Regrouping regrouping_;
};

}  // namespace paceline

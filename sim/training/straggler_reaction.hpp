// What the switch policy is told of the workers, and what becomes of its decisions.
//
// Models:      a worker's own time of an iteration (computing and transfers, no waiting) is told once the update it went
//              into is released, with what the serial coordinator saw of it: how much longer than with the others it was
//              busy with this worker. Decisions about phases take effect at once, those about members between two rounds.
// Units:       seconds, samples.
#pragma once

#include <cstdint>
#include <memory>
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
  void set_members(std::size_t phase, std::span<const WorkerId> members);

  void note_iteration(WorkerId worker, std::int64_t samples, Seconds own_time);
  void note_coordination(std::span<const std::pair<WorkerId, Seconds>> with_worker);
  // Tells the policy what was noted of those who still take part.
  void tell(const Workers& workers, Phases& phases, Actions& actions);
  void tell_probe(WorkerId worker, std::int64_t samples, Seconds own_time, Phases& phases, Actions& actions);
  void forget_notes() { noted_.clear(); }

  // Whether dropped workers are to be probed after so many updates.
  [[nodiscard]] bool probes_after(std::uint64_t updates) const;
  // Who is to be dropped, and taken in again, before the next round.
  struct Regrouping {
    std::vector<WorkerId> drop;
    std::vector<WorkerId> restore;
    [[nodiscard]] bool is_needed() const { return !drop.empty() || !restore.empty(); }
  };
  [[nodiscard]] bool wants_regrouping() const { return regrouping_.is_needed(); }
  [[nodiscard]] Regrouping take_regrouping() { return std::exchange(regrouping_, {}); }

  // The worker is gone.
  void forget(WorkerId worker);

 private:
  struct Noted {
    WorkerId worker;
    std::int64_t samples = 0;
    Seconds own_time;
  };
  void act_on(const Reaction& reaction, Phases& phases, Actions& actions);

  std::unique_ptr<SwitchPolicy> policy_;
  std::vector<Noted> noted_;
  Regrouping regrouping_;
};

}  // namespace paceline

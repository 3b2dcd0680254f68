#include "sim/training/straggler_reaction.hpp"

#include <algorithm>

namespace paceline {

void StragglerReaction::set_members(std::size_t phase, std::span<const WorkerId> members) {
  if (watches()) policy_->on_members(phase, members);
}

void StragglerReaction::note_iteration(WorkerId worker, std::int64_t samples, Seconds own_time) {
  if (watches()) noted_.push_back({worker, samples, own_time});
}

// What all workers have in common tells nothing.
void StragglerReaction::note_coordination(std::span<const std::pair<WorkerId, Seconds>> with_worker) {
  if (with_worker.empty()) return;
  const Seconds least =
      std::ranges::min_element(with_worker, {}, [](const auto& entry) { return entry.second; })->second;
  for (Noted& noted : noted_)
    for (const auto& [worker, time] : with_worker)
      if (worker == noted.worker) noted.own_time += time - least;
}

void StragglerReaction::tell(const Workers& workers, Phases& phases, Actions& actions) {
  for (const Noted& noted : std::exchange(noted_, {}))
    if (workers[noted.worker].is_member())
      act_on(policy_->on_iteration(noted.worker, noted.samples, noted.own_time), phases, actions);
}

void StragglerReaction::tell_probe(WorkerId worker, std::int64_t samples, Seconds own_time, Phases& phases,
                                   Actions& actions) {
  act_on(policy_->on_probe(worker, samples, own_time), phases, actions);
}

void StragglerReaction::act_on(const Reaction& reaction, Phases& phases, Actions& actions) {
  if (!reaction.judged.empty()) actions.emplace_back(Judge{reaction.judged});
  for (const Decision& decision : reaction.decisions) {
    actions.emplace_back(Decide{decision});
    switch (decision.kind) {
      case DecisionKind::alarm:
      case DecisionKind::clear:
      case DecisionKind::probe:
        break;
      case DecisionKind::leave_phase:
        phases.leave_for(policy_->detour_from(phases.index()));
        break;
      case DecisionKind::return_to_phase:
        phases.end();
        break;
      case DecisionKind::drop:
        regrouping_.drop.push_back(decision.worker);
        break;
      case DecisionKind::restore:
        regrouping_.restore.push_back(decision.worker);
        break;
    }
  }
}

bool StragglerReaction::probes_after(std::uint64_t updates) const {
  const std::optional<std::int64_t> every = policy_->probe_every_updates();
  return every && updates % static_cast<std::uint64_t>(*every) == 0;
}

void StragglerReaction::forget(WorkerId worker) {
  std::erase(regrouping_.drop, worker);
  std::erase(regrouping_.restore, worker);
}

}  // namespace paceline

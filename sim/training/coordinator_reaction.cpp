// What the switch policy sees of the workers, and what becomes of its decisions.
#include <algorithm>
#include <utility>

#include "sim/base/check.hpp"
#include "sim/training/coordinator.hpp"

namespace paceline {

// An iteration is over: what it took of its worker's own time is told once its update is released.
void Coordinator::note_own_time(WorkerId id, std::int64_t samples) {
  if (switch_policy_->watches()) observed_.push_back({id, samples, state(id).own_time});
  state(id).own_time = {};
}

// The serial coordinator sees how long it was busy with each worker; what all have in common tells nothing.
void Coordinator::note_coordination(const std::vector<std::pair<WorkerId, Seconds>>& with_worker) {
  if (with_worker.empty()) return;
  const Seconds least =
      std::ranges::min_element(with_worker, {}, [](const auto& entry) { return entry.second; })->second;
  for (Observed& observed : observed_)
    for (const auto& [worker, time] : with_worker)
      if (worker == observed.worker) observed.own_time += time - least;
}

void Coordinator::tell_switch_policy(Actions& actions) {
  for (const Observed& observed : std::exchange(observed_, {}))
    if (is_member(observed.worker))
      react(switch_policy_->on_iteration(observed.worker, observed.samples, observed.own_time), actions);
}

void Coordinator::react(const Reaction& reaction, Actions& actions) {
  if (!reaction.judged.empty()) actions.emplace_back(Judge{reaction.judged});
  for (const Decision& decision : reaction.decisions) {
    actions.emplace_back(Decide{decision});
    switch (decision.kind) {
      case DecisionKind::alarm:
      case DecisionKind::clear:
      case DecisionKind::probe:
        break;
      case DecisionKind::leave_phase:
        detour_ = switch_policy_->detour_from(workload_.phase());
        workload_.end_phase();
        break;
      case DecisionKind::return_to_phase:
        workload_.end_phase();
        break;
      case DecisionKind::drop:
        to_drop_.push_back(decision.worker);
        break;
      case DecisionKind::restore:
        to_restore_.push_back(decision.worker);
        break;
    }
  }
}

// Between two rounds, when nothing is under way but probes: the workers change, and with them those who are released.
void Coordinator::regroup(std::vector<WorkerId>& workers, Actions& actions) {
  if ((to_drop_.empty() && to_restore_.empty()) || !workload_.nothing_in_flight()) return;
  for (const WorkerId id : std::exchange(to_drop_, {})) {
    if (!is_member(id)) continue;
    state(id).is_dropped = true;
    state(id).doing = Doing::dropped;
    state(id).pauses.clear();
    adopt(batch_controller_->on_leave(id), actions);
  }
  for (const WorkerId id : std::exchange(to_restore_, {})) take_in_again(id, actions);
  refused_.clear();
  workers = members();
  for (const auto& policy : policies_) policy->begin(workers);
  for (const WorkerId id : workers) {
    state(id).is_outside_round = false;
    state(id).pauses.push_back(PauseKind::regrouping);
  }
  switch_policy_->on_members(workload_.phase(), workers);
}

void Coordinator::take_in_again(WorkerId id, Actions& actions) {
  WorkerState& worker = state(id);
  if (!worker.is_dropped) return;
  if (worker.iteration) drop_iteration(id, actions);
  worker.is_dropped = false;
  worker.doing = Doing::idle;
  worker.needs_parameters = true;
  batch_controller_->on_join(id);
}

// The next phase begins with everybody.
void Coordinator::restore_all(Actions& actions) {
  to_drop_.clear();
  to_restore_.clear();
  for (std::uint64_t w = 0; w < workers_.size(); ++w) {
    if (!workers_[w].is_dropped) continue;
    take_in_again(WorkerId{w}, actions);
    workers_[w].needs_parameters = false;  // the pause before the phase pays for that
    actions.emplace_back(Decide{{DecisionKind::restore, WorkerId{w}, std::nullopt}});
  }
}

// Dropped workers are probed together, while the members go on with a round.
void Coordinator::probe_if_due(const std::vector<WorkerId>& members_released, Actions& actions) {
  const std::optional<std::int64_t> every = switch_policy_->probe_every_updates();
  if (!every || updates_ % static_cast<std::uint64_t>(*every) != 0) return;
  bool somebody = false;
  for (std::uint64_t w = 0; w < workers_.size(); ++w) {
    if (!workers_[w].is_dropped || workers_[w].iteration) continue;
    start_probe(WorkerId{w}, actions);
    somebody = true;
  }
  if (!somebody) return;
  for (const WorkerId id : members_released) state(id).pauses.push_back(PauseKind::probing);
}

void Coordinator::start_probe(WorkerId id, Actions& actions) {
  WorkerState& worker = state(id);
  worker.iteration = IterationState{.gradient = GradientId{gradients_begun_++},
                                    .batch_samples = batches_[id.value],
                                    .is_probe = true,
                                    .gradient_is_held = false,
                                    .update = std::nullopt};
  worker.own_time = {};
  worker.needs_parameters = true;
  go_on(id, actions);
}

void Coordinator::finish_probe(WorkerId id, Actions& actions) {
  const std::int64_t samples = state(id).iteration->batch_samples;
  const Seconds own_time = std::exchange(state(id).own_time, {});
  drop_iteration(id, actions);
  react(switch_policy_->on_probe(id, samples, own_time), actions);
}

}  // namespace paceline

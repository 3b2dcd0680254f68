// How workers go on: work, pauses, parameters, the next iteration.
#include <algorithm>
#include <cmath>
#include <utility>

#include "sim/base/check.hpp"
#include "sim/training/coordinator.hpp"

namespace paceline {

// After an update. Under a synchronous policy nothing but late gradients can be in flight now: when nothing more is to
// be handed out, they are called off instead of waited for; what they give back may be enough for another round.
void Coordinator::release_round(std::vector<WorkerId> workers, Actions& actions) {
  if (switch_policy_->watches()) {
    // After the last round of a phase there is nothing left to react for: the next one begins with everybody.
    if (workload_.phase_has_work(policies_.front()->gradients_per_update())) {
      tell_switch_policy(actions);
      regroup(workers, actions);
      probe_if_due(workers, actions);
    } else {
      observed_.clear();
    }
  }
  SynchronizationPolicy& policy = *policies_.front();
  if (policy.is_synchronous() && !workload_.phase_has_work(policy.gradients_per_update()) &&
      !workload_.nothing_in_flight()) {
    workers = members();
    for (const WorkerId worker : workers)
      if (state(worker).iteration) drop_iteration(worker, actions);
    policy.begin(workers);
  }
  release(workers, actions);
}

void Coordinator::release(std::vector<WorkerId> workers, Actions& actions) {
  SynchronizationPolicy& policy = *policies_.front();
  const auto has_work = [&] { return workload_.phase_has_work(policy.gradients_per_update()); };
  std::erase_if(workers, [&](WorkerId id) { return state(id).doing != Doing::idle; });
  // A round that is handed out must be able to end: those refused before take part in it, once.
  const bool together = policy.is_synchronous();
  if (together && has_work()) {
    for (const WorkerId id : refused_)
      if (std::exchange(state(id).is_outside_round, false)) static_cast<void>(policy.on_join(id, now_));
    workers.insert(workers.end(), refused_.begin(), refused_.end());
    std::sort(workers.begin(), workers.end());
    workers.erase(std::unique(workers.begin(), workers.end()), workers.end());
    refused_.clear();
  }
  if (together && !has_work()) {
    refused_.insert(refused_.end(), workers.begin(), workers.end());
    return;
  }
  if (together) plan_checkpoint(workers);
  for (const WorkerId id : workers) {
    if (!together && batch_controller_->holds(id)) {
      held_.push_back(id);
      continue;
    }
    if (!together && !has_work()) {
      refused_.push_back(id);
      continue;
    }
    if (!together) plan_checkpoint({id});
    WorkerState& worker = state(id);
    // Who joins before a phase begins starts like the others.
    if (phase_planned_ && planned_pause_ && worker.needs_parameters)
      worker.pauses.push_front(*planned_pause_);
    worker.iteration = IterationState{.gradient = GradientId{gradients_begun_++},
                                      .batch_samples = batches_[id.value],
                                      .is_probe = false,
                                      .gradient_is_held = false,
                                      .update = std::nullopt};
    workload_.hand_out(worker.iteration->batch_samples);
    if (std::exchange(worker.adjustment_owed, false)) worker.pauses.push_back(PauseKind::adjustment);
    for (; worker.evaluations_owed > 0; --worker.evaluations_owed)
      worker.pauses.push_back(PauseKind::evaluation);
    next_pause_or_go_on(id, actions);
  }
}

void Coordinator::offer_work_given_back(Actions& actions) {
  const SynchronizationPolicy& policy = *policies_.front();
  if (refused_.empty() || !workload_.phase_has_work(policy.gradients_per_update())) return;
  // Between two rounds they wait for the next one, with the others.
  if (policy.is_synchronous() && !(pending_updates_.empty() && coordinating_.empty())) return;
  release(std::exchange(refused_, {}), actions);
}

void Coordinator::adopt(const std::optional<Allocation>& allocation, Actions& actions) {
  if (!allocation) return;
  batches_ = batches_of(*allocation);
  actions.emplace_back(AdoptBatches{*allocation});
  if (!config_.pause_at_adjustment) return;
  for (const WorkerId worker : present_workers()) state(worker).adjustment_owed = true;
}

// Those whom the batch controller lets go by now.
void Coordinator::release_held(Actions& actions) {
  if (held_.empty()) return;
  const auto still_held = [this](WorkerId id) { return batch_controller_->holds(id); };
  const auto free = std::stable_partition(held_.begin(), held_.end(), still_held);
  std::vector<WorkerId> workers(free, held_.end());
  held_.erase(free, held_.end());
  release(std::move(workers), actions);
}

void Coordinator::plan_checkpoint(const std::vector<WorkerId>& workers) {
  if (!checkpoints_ || workers.empty()) return;
  const WorkerId chief = members().front();
  const bool with_chief = std::find(workers.begin(), workers.end(), chief) != workers.end();
  if (!with_chief || !checkpoints_->due(done())) return;
  for (const WorkerId worker : workers) state(worker).pauses.push_back(PauseKind::checkpoint);
}

void Coordinator::next_pause_or_go_on(WorkerId id, Actions& actions) {
  WorkerState& worker = state(id);
  if (worker.pauses.empty()) return go_on(id, actions);
  worker.doing = Doing::pausing;
  actions.emplace_back(Pause{id, worker.pauses.front(), workload_.phase(), worker.iteration->gradient});
}

void Coordinator::go_on(WorkerId id, Actions& actions) {
  if (phase_planned_) enter_phase(actions);
  WorkerState& worker = state(id);
  const bool phase_begins = std::exchange(worker.holds_present_parameters, false);
  const bool epoch_passed = std::floor(epoch()) > worker.pulled_epoch;
  const bool keeps_its_own =
      phase().exchange == Exchange::parameters && !phase_begins && !worker.needs_parameters && !epoch_passed;
  if (keeps_its_own) return start_iteration(id, actions);
  worker.pulled_versions = versions_;
  worker.pulled_epoch = std::floor(epoch());
  for (std::uint64_t s = 0; s < config_.servers; ++s) actions.emplace_back(TakeSnapshot{id, ServerId{s}});
  const bool parameters_travel = worker.needs_parameters || (uses_servers() && !phase_begins);
  worker.needs_parameters = false;
  if (parameters_travel) {
    send_parameters(id, actions);
  } else {
    start_iteration(id, actions);
  }
}

void Coordinator::send_parameters(WorkerId id, Actions& actions) {
  WorkerState& worker = state(id);
  const GradientId gradient = worker.iteration->gradient;
  worker.doing = Doing::receiving;
  worker.transfer_began = now_;
  if (uses_servers()) {
    worker.parts_awaited = config_.servers;
    for (std::uint64_t s = 0; s < config_.servers; ++s)
      actions.emplace_back(SendParameters{id, gradient, ServerId{s}, std::nullopt});
    return;
  }
  const std::vector<WorkerId> present = members();
  const auto source =
      std::find_if(present.begin(), present.end(), [&](WorkerId other) { return other != id; });
  // Nobody else is there to ask: it goes on from the last checkpoint, whose reading its absence has paid for.
  if (source == present.end()) return start_iteration(id, actions);
  worker.parts_awaited = 1;
  actions.emplace_back(SendParameters{id, gradient, ServerId{0}, *source});
}

void Coordinator::start_iteration(WorkerId id, Actions& actions) {
  WorkerState& worker = state(id);
  worker.doing = Doing::computing;
  worker.iteration->gradient_is_held = true;
  actions.emplace_back(StartIteration{.worker = id,
                                      .gradient = worker.iteration->gradient,
                                      .iteration = worker.iterations++,
                                      .batch_samples = worker.iteration->batch_samples,
                                      .since_start = worker.iterations_since_start++});
}

}  // namespace paceline

// How workers go on: members, work, pauses, parameters, the next iteration.
#include <algorithm>
#include <cmath>
#include <utility>

#include "sim/training/coordinator.hpp"

namespace paceline {

// After an update. Under a synchronous policy nothing but late gradients can be in flight now: when nothing
// more is to be handed out, they are called off instead of waited for; what they give back may be enough for
// another round.
void Coordinator::release_round(std::vector<WorkerId> workers, Actions& actions) {
  // After the last round of a phase there is nothing left to react for: the next one begins with everybody.
  if (!phases_.has_work()) {
    reaction_.forget_notes();
  } else if (reaction_.watches()) {
    reaction_.tell(workers_, phases_, actions);
    regroup(workers, actions);
    if (reaction_.probes_after(updates_)) probe_dropped(workers, actions);
  }
  if (phases_.is_synchronous() && !phases_.has_work() && !workload().nothing_in_flight()) {
    workers = workers_.members();
    for (const WorkerId worker : workers)
      if (workers_[worker].iteration) drop_iteration(worker, actions);
    phases_.begin_round(workers);
  }
  release(std::move(workers), actions);
}

void Coordinator::release(std::vector<WorkerId> workers, Actions& actions) {
  std::erase_if(workers, [&](WorkerId id) { return workers_[id].status != WorkerStatus::idle; });
  if (phases_.is_synchronous()) return release_together(std::move(workers), actions);
  for (const WorkerId id : workers) release_alone(id, actions);
}

// A round that is handed out must be able to end: those refused before take part in it, once.
void Coordinator::release_together(std::vector<WorkerId> workers, Actions& actions) {
  if (!phases_.has_work()) return gate_.refuse(workers);
  for (const WorkerId id : gate_.refused())
    if (std::exchange(workers_[id].is_outside_round, false))
      static_cast<void>(phases_.policy().on_join(id, now_));
  workers = gate_.take_refused_with(std::move(workers));
  plan_checkpoint(workers);
  for (const WorkerId id : workers) begin_iteration(id, actions);
}

void Coordinator::release_alone(WorkerId id, Actions& actions) {
  if (batch_controller_->holds(id)) return gate_.hold(id);
  if (!phases_.has_work()) return gate_.refuse({id});
  plan_checkpoint({id});
  begin_iteration(id, actions);
}

void Coordinator::offer_work_given_back(Actions& actions) {
  if (gate_.refused().empty() || !phases_.has_work()) return;
  // Between two rounds they wait for the next one, with the others.
  if (phases_.is_synchronous() && !assembly_.nothing_under_way()) return;
  release(gate_.take_refused(), actions);
}

void Coordinator::plan_checkpoint(const std::vector<WorkerId>& workers) {
  if (!checkpoints_) return;
  const bool with_chief = std::find(workers.begin(), workers.end(), workers_.chief()) != workers.end();
  if (!with_chief || !checkpoints_->due(done())) return;
  for (const WorkerId worker : workers) workers_[worker].pauses.add(PauseKind::checkpoint);
}

void Coordinator::begin_iteration(WorkerId id, Actions& actions) {
  WorkerState& worker = workers_[id];
  // Who joins before a phase begins starts like the others.
  const std::optional<PauseKind> pause = phases_.planned_pause();
  if (pause && worker.needs_parameters) worker.pauses.add_first(*pause);
  worker.iteration =
      IterationState{.gradient = GradientId{gradients_begun_++}, .batch_samples = batches_[id.value]};
  worker.iteration->local_steps = local_steps_of(id);
  if (const auto& local = phases_.config().local; local && local->fragments)
    worker.iteration->overlapped_steps = local->fragments->delay;
  workload().hand_out(worker.iteration->samples());
  worker.pauses.settle();
  next_pause_or_go_on(id, actions);
}

void Coordinator::next_pause_or_go_on(WorkerId id, Actions& actions) {
  WorkerState& worker = workers_[id];
  const std::optional<PauseKind> pause = worker.pauses.next();
  if (!pause) return go_on(id, actions);
  worker.status = WorkerStatus::pausing;
  actions.emplace_back(Pause{id, *pause, phases_.index(), worker.iteration->gradient});
}

void Coordinator::go_on(WorkerId id, Actions& actions) {
  if (phases_.is_planned()) phases_.enter(actions);
  const UpdateStrategy& strategy = phases_.strategy();
  WorkerState& worker = workers_[id];
  const bool phase_begins = std::exchange(worker.holds_present_parameters, false);
  const double epoch = std::floor(phases_.workload().epoch());
  const bool must_pull = phase_begins || worker.needs_parameters;
  if (strategy.steps_locally())
    worker.iteration->own_step = hyperparameters(1, worker.iteration->batch_samples);
  if (!must_pull && !strategy.pulls(epoch > worker.pulled_epoch)) return receive(id, true, actions);
  worker.pulled_versions = assembly_.versions();
  worker.pulled_epoch = epoch;
  take_snapshots(id, must_pull, actions);
  const bool has_them = phase_begins || !strategy.parameters_travel();
  if (std::exchange(worker.needs_parameters, false) || !has_them) {
    receive(id, false, actions);
  } else {
    start_iteration(id, actions);
  }
}

// All parameters, or the fragment that was merged last.
void Coordinator::take_snapshots(WorkerId id, bool all, Actions& actions) {
  std::optional<Mix> mix;
  if (!all && exchanges_ > 0)
    if (const std::optional<Fragment> latest = fragment(exchanges_ - 1))
      mix = Mix{*latest, phases_.config().local->fragments->mixing};
  for (std::uint64_t s = 0; s < config_.servers; ++s) {
    // Filled in where it stays: a copy of what was just written has to wait for it.
    auto& snapshot = std::get<TakeSnapshot>(actions.emplace_back(std::in_place_type<TakeSnapshot>));
    snapshot.worker = id;
    snapshot.server = ServerId{s};
    if (mix) snapshot.mix = mix;
  }
}

// Parameters, or only that those it has pushed are there.
void Coordinator::receive(WorkerId id, bool only_answers, Actions& actions) {
  WorkerState& worker = workers_[id];
  worker.status = WorkerStatus::receiving;
  worker.transfer_began = now_;
  worker.parts_awaited = phases_.strategy().send_parameters(id, workers_, only_answers, actions);
  // Nobody is there to ask: it goes on from the last checkpoint, whose reading its absence has paid for.
  if (worker.parts_awaited == 0) start_iteration(id, actions);
}

void Coordinator::start_iteration(WorkerId id, Actions& actions) {
  WorkerState& worker = workers_[id];
  worker.status = WorkerStatus::computing;
  worker.iteration->gradient_is_held = true;
  // Filled in where it stays: it is large, and the most frequent of all.
  auto& start = std::get<StartIteration>(actions.emplace_back(std::in_place_type<StartIteration>));
  start.worker = id;
  start.gradient = worker.iteration->gradient;
  start.iteration = worker.iterations;
  start.batch_samples = worker.iteration->batch_samples;
  start.since_start = worker.iterations_since_start;
  start.own_step = worker.iteration->own_step;
  if (!worker.iteration->is_probe) start.buckets = phases_.strategy().buckets();
  const std::int64_t steps = worker.iteration->local_steps - worker.iteration->overlapped_steps;
  const std::optional<LocalTraining>& local = phases_.config().local;
  if (local && !worker.iteration->is_probe) {
    LocalSteps& taken = start.local.emplace();
    taken.count = steps;
    taken.inner = hyperparameters(1, start.batch_samples);
    taken.difference.fragment = fragment(exchanges_);
    taken.difference.sent_as = local->sent_as;
  }
  worker.iterations += static_cast<std::uint64_t>(steps);
  worker.iterations_since_start += static_cast<std::uint64_t>(steps);
}

void Coordinator::train_on(WorkerId id, Actions& actions) {
  WorkerState& worker = workers_[id];
  IterationState& iteration = *worker.iteration;
  iteration.is_training_on = true;
  ++training_on_;
  actions.emplace_back(
      TrainOn{.worker = id,
              .gradient = iteration.gradient,
              .iteration = worker.iterations,
              .batch_samples = iteration.batch_samples,
              .since_start = worker.iterations_since_start,
              .local = {iteration.overlapped_steps, hyperparameters(1, iteration.batch_samples)}});
  worker.iterations += static_cast<std::uint64_t>(iteration.overlapped_steps);
  worker.iterations_since_start += static_cast<std::uint64_t>(iteration.overlapped_steps);
}

void Coordinator::end_overlap(WorkerState& worker, Actions& actions) {
  if (!std::exchange(worker.iteration->is_training_on, false)) return;
  if (--training_on_ == 0 && reduced_) step_on_members(*std::exchange(reduced_, std::nullopt), actions);
}

std::int64_t Coordinator::local_steps_of(WorkerId id) const {
  const std::optional<LocalTraining>& local = phases_.config().local;
  if (!local) return 1;
  if (!local->by_speed && !local->growth) return local->steps_between_exchanges();
  const auto seconds_of = [&](WorkerId worker) {
    const double declared =
        static_cast<double>(batches_[worker.value]) / config_.machines[worker.value].throughput;
    return workers_[worker].seconds_per_step.value_or(declared);
  };
  std::vector<double> seconds;
  for (const WorkerId member : workers_.members()) seconds.push_back(seconds_of(member));
  const std::int64_t batch = batches_[id.value];
  const double rate = learning_rate_without_warmup(config_.optimizer, update_context(1, batch));
  const auto left = static_cast<double>(phases_.workload().total_samples() - applied_samples()) /
                    static_cast<double>(batch);
  return local_steps(*local, rate, seconds_of(id), seconds,
                     std::ceil(left / static_cast<double>(seconds.size())));
}

// Between two rounds, when nothing is under way but probes: the workers change, and with them those who are
// released.
void Coordinator::regroup(std::vector<WorkerId>& workers, Actions& actions) {
  if (!reaction_.wants_regrouping() || !workload().nothing_in_flight()) return;
  const auto [drop, restore] = reaction_.take_regrouping();
  for (const WorkerId id : drop) {
    WorkerState& worker = workers_[id];
    if (!worker.is_member()) continue;
    worker.is_dropped = true;
    worker.status = WorkerStatus::dropped;
    worker.pauses.clear();
    adopt(batch_controller_->on_leave(id), actions);
  }
  for (const WorkerId id : restore) take_in_again(id, actions);
  gate_.forget_refused();
  workers = workers_.members();
  phases_.begin_round(workers);
  for (const WorkerId id : workers) {
    workers_[id].is_outside_round = false;
    workers_[id].pauses.add(PauseKind::regrouping);
  }
  reaction_.set_members(phases_.index(), workers);
}

void Coordinator::take_in_again(WorkerId id, Actions& actions) {
  WorkerState& worker = workers_[id];
  if (!worker.is_dropped) return;
  if (worker.iteration) drop_iteration(id, actions);
  worker.is_dropped = false;
  worker.status = WorkerStatus::idle;
  worker.needs_parameters = true;
  batch_controller_->on_join(id);
}

// The next phase begins with everybody.
void Coordinator::restore_all(Actions& actions) {
  static_cast<void>(reaction_.take_regrouping());
  for (const WorkerId id : workers_.dropped()) {
    take_in_again(id, actions);
    workers_[id].needs_parameters = false;  // the pause before the phase pays for that
    actions.emplace_back(Decide{{DecisionKind::restore, id, std::nullopt}});
  }
}

// Dropped workers are probed together, while the members go on with a round.
void Coordinator::probe_dropped(const std::vector<WorkerId>& members_released, Actions& actions) {
  bool somebody = false;
  for (const WorkerId id : workers_.dropped()) {
    WorkerState& worker = workers_[id];
    if (worker.iteration) continue;
    worker.iteration = IterationState{
        .gradient = GradientId{gradients_begun_++}, .batch_samples = batches_[id.value], .is_probe = true};
    worker.own_time = {};
    worker.needs_parameters = true;
    go_on(id, actions);
    somebody = true;
  }
  if (!somebody) return;
  for (const WorkerId id : members_released) workers_[id].pauses.add(PauseKind::probing);
}

void Coordinator::finish_probe(WorkerId id, Actions& actions) {
  const std::int64_t samples = workers_[id].iteration->batch_samples;
  const Seconds own_time = std::exchange(workers_[id].own_time, {});
  drop_iteration(id, actions);
  reaction_.tell_probe(id, samples, own_time, phases_, actions);
}

}  // namespace paceline

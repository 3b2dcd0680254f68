// How gradients become updates: between update_strategy.hpp, the synchronization policy and
// update_assembly.hpp.
#include <algorithm>
#include <utility>

#include "sim/base/check.hpp"
#include "sim/training/coordinator.hpp"

namespace paceline {

void Coordinator::on(const AllReduceFinished& event, Actions& actions) {
  if (training_on_ > 0)
    reduced_ = event.update;
  else
    step_on_members(event.update, actions);
}

std::size_t Coordinator::gradients_to_come() const {
  return static_cast<std::size_t>(std::ranges::count_if(workers_, [](const WorkerState& worker) {
    return worker.iteration.has_value() && !worker.iteration->is_probe;
  }));
}

void Coordinator::reduce_without(WorkerId worker, Actions& actions) {
  const UpdateId id = *workers_[worker].iteration->update;
  PendingUpdate& update = assembly_.at(id);
  std::erase_if(update.gradients, [&](const CombinedGradient& one) { return one.worker == worker; });
  drop_iteration(worker, actions);
  if (update.gradients.empty()) return assembly_.erase(id);
  actions.push_back(phases_.strategy().begin(id, ServerId{0}, update.workers()));
}

void Coordinator::step_on_members(UpdateId update, Actions& actions) {
  actions.emplace_back(LocalStep{update, assembly_.at(update).workers()});
}

void Coordinator::on(const StepFinished& event, Actions& actions) {
  PendingUpdate* const update = assembly_.find(event.update);
  if (update == nullptr) return;  // its worker left before it could send the result
  if (update->step_is_local) {
    finish_local_step(*update, actions);
  } else {
    finish_step(event.update, event.server, actions);
  }
}

void Coordinator::on(const Coordinated& event, Actions&) {
  reaction_.note_coordination(event.worker, event.time);
}

void Coordinator::on(const CoordinationFinished& event, Actions& actions) {
  std::vector<WorkerId> workers = assembly_.end_coordination(event.update);
  reaction_.end_coordination();
  release_round(std::move(workers), actions);
}

void Coordinator::proceed(WorkerId worker, Onward onward, Actions& actions) {
  switch (onward) {
    case Onward::local_step:
      return step_locally(worker, actions);
    case Onward::send:
      return send_to_servers(worker, actions);
    case Onward::combine:
      workers_[worker].status = WorkerStatus::waiting_for_update;
      return gradient_ready(worker, ServerId{0}, actions);
  }
}

void Coordinator::step_locally(WorkerId worker, Actions& actions) {
  const UpdateId id = begin_update({worker});
  assembly_.at(id).step_is_local = true;
  workers_[worker].status = WorkerStatus::stepping;
  actions.emplace_back(LocalStep{id, {worker}});
}

void Coordinator::finish_local_step(PendingUpdate& update, Actions& actions) {
  CombinedGradient& stepped = update.gradients.front();
  update.step_is_local = false;
  IterationState& iteration = *workers_[stepped.worker].iteration;
  actions.emplace_back(ApplyLocally{stepped.worker, stepped.gradient, iteration.own_step.value()});
  stepped.is_held = false;
  iteration.gradient_is_held = false;
  send_to_servers(stepped.worker, actions);
}

void Coordinator::send_to_servers(WorkerId id, Actions& actions) {
  WorkerState& worker = workers_[id];
  worker.status = WorkerStatus::sending;
  worker.transfer_began = now_;
  worker.parts_awaited = config_.servers;
  const bool is_coordinated =
      config_.coordinate_synchronous_steps && !worker.iteration->is_probe && phases_.is_synchronous();
  for (std::uint64_t s = 0; s < config_.servers; ++s)
    actions.emplace_back(SendGradient{id, worker.iteration->gradient, ServerId{s}, is_coordinated,
                                      phases_.strategy().share()});
}

void Coordinator::gradient_ready(WorkerId worker, ServerId server, Actions& actions) {
  const SynchronizationDecision decision = phases_.policy(server).on_gradient(worker, now_);
  const bool is_alone = decision.combine.size() == 1;
  const bool is_dropped = std::ranges::find(decision.drop, worker) != decision.drop.end();
  if (!is_alone && !is_dropped)
    if (const std::optional<Action> action = phases_.strategy().gather(worker, server))
      actions.push_back(*action);
  carry_out(decision, server, actions);
}

void Coordinator::carry_out(const SynchronizationDecision& decision, ServerId server, Actions& actions) {
  if (decision.window) {
    open_windows_.at(server.value) = ++windows_opened_;
    actions.emplace_back(OpenWindow{server, windows_opened_, *decision.window});
  }
  for (const WorkerId worker : decision.drop) {
    // Who still pauses has not begun, nor has who was refused work: they take part in the round of then.
    const WorkerState& state = workers_[worker];
    if (state.iteration && state.status != WorkerStatus::pausing) drop_iteration(worker, actions);
  }
  if (!decision.combine.empty()) return combine(decision, server, actions);
  // Who was late for an update that is still being carried out waits for it, and for its coordination.
  if (phases_.is_synchronous() && assembly_.wait_for_latest(server, decision.release)) return;
  release(let_go(decision.release, server), actions);
}

// Who is let go while this server still applies its gradient goes on after that.
std::vector<WorkerId> Coordinator::let_go(const std::vector<WorkerId>& workers, ServerId server) {
  std::vector<WorkerId> free;
  for (const WorkerId id : workers) {
    const std::optional<IterationState>& iteration = workers_[id].iteration;
    PendingUpdate* const update =
        iteration && iteration->update ? &assembly_.at(*iteration->update) : nullptr;
    if (update != nullptr && !update->has_stepped.at(server.value)) {
      update->release.at(server.value).push_back(id);
    } else {
      free.push_back(id);
    }
  }
  return gate_.let_go(free, phases_.strategy().deciders());
}

void Coordinator::combine(const SynchronizationDecision& decision, ServerId server, Actions& actions) {
  const std::optional<UpdateId> known = workers_[decision.combine.front()].iteration->update;
  const UpdateId id = known ? *known : begin_update(decision.combine);
  PendingUpdate& update = assembly_.at(id);
  check(update.gradients.size() == decision.combine.size(), "every server combines the same gradients");
  update.release.at(server.value) = decision.release;
  actions.push_back(phases_.strategy().begin(id, server, decision.combine));
}

UpdateId Coordinator::begin_update(const std::vector<WorkerId>& workers) {
  std::vector<CombinedGradient> gradients;
  gradients.reserve(workers.size());
  for (const WorkerId id : workers) {
    const WorkerState& worker = workers_[id];
    gradients.push_back(
        {id, worker.iteration->gradient, worker.iteration->samples(), worker.pulled_versions});
  }
  const UpdateId id = assembly_.begin(std::move(gradients), phases_.strategy().deciders());
  for (const WorkerId worker : workers) workers_[worker].iteration->update = id;
  return id;
}

void Coordinator::finish_step(UpdateId id, ServerId server, Actions& actions) {
  const UpdateStrategy& strategy = phases_.strategy();
  PendingUpdate& update = assembly_.at(id);
  update.has_stepped.at(server.value) = true;
  const bool completes = std::ranges::find(update.has_stepped, false) == update.has_stepped.end();
  const Hyperparameters parameters = hyperparameters(update);
  const std::optional<OuterStep> outer = outer_step(completes);
  const bool changes_parameters = !outer || !outer->is_added_only;
  const ShardRange shards = strategy.shards_of(server);
  for (std::uint64_t s = shards.first; s < shards.end; ++s)
    actions.push_back(strategy.change(assembly_.apply(id, ServerId{s},
                                                      completes && changes_parameters && s + 1 == shards.end,
                                                      parameters, phases_.config().staleness_weight, outer)));
  if (completes) ++exchanges_;
  if (completes) take_in(update);
  if (completes && changes_parameters) count_update(update, actions);
  std::vector<WorkerId> free = gate_.let_go(update.release.at(server.value), strategy.deciders());
  const std::int64_t samples = update.samples();
  if (completes) assembly_.erase(id);
  if (free.empty()) return;
  if (config_.coordinate_synchronous_steps && phases_.is_synchronous()) {
    actions.emplace_back(Coordinate{id, free, samples});
    assembly_.begin_coordination(id, std::move(free));
  } else {
    release_round(std::move(free), actions);
  }
}

// How differences change the parameters, if the phase trains locally: a buffer of them steps when it is full.
std::optional<OuterStep> Coordinator::outer_step(bool completes) {
  if (!phases_.config().local) return std::nullopt;
  const OuterOptimizer& outer = phases_.config().local->outer;
  const std::int64_t every = std::max(outer.every, outer.momentum_every);
  if (completes) buffered_ = buffered_ % every + 1;
  std::optional<DelayedMomentum> delayed;
  if (outer.momentum_every > 1) delayed = {outer.momentum_between, buffered_ == every};
  return OuterStep{.learning_rate = outer.learning_rate,
                   .momentum = outer.momentum,
                   .nesterov = outer.nesterov,
                   .buffered = every,
                   .delayed = delayed,
                   .is_added_only = completes && buffered_ < outer.every,
                   .of = fragment(exchanges_).value_or(Fragment{})};
}

std::optional<Fragment> Coordinator::fragment(std::uint64_t exchange) const {
  const std::optional<LocalTraining>& local = phases_.config().local;
  if (!local || !local->fragments) return std::nullopt;
  const auto count = static_cast<std::uint64_t>(local->fragments->count);
  return Fragment{exchange % count, count};
}

Hyperparameters Coordinator::hyperparameters(const PendingUpdate& update) const {
  return hyperparameters(update.gradients.size(), update.samples());
}

UpdateContext Coordinator::update_context(std::size_t gradients, std::int64_t samples) const {
  return {.epoch = phases_.workload().epoch(),
          .progress = phases_.workload().progress(),
          .step = updates_,
          .gradients = gradients,
          .samples = samples,
          .initial_batch_samples = config_.batching.initial_samples,
          .since_switch = phases_.since_switch(done(), workers_.size())};
}

Hyperparameters Coordinator::hyperparameters(std::size_t gradients, std::int64_t samples) const {
  const UpdateContext context = update_context(gradients, samples);
  return {learning_rate_at(config_.optimizer, context), momentum_at(config_.optimizer, context)};
}

void Coordinator::take_in(const PendingUpdate& update) {
  for (const CombinedGradient& combined : update.gradients) {
    workload().apply(combined.batch_samples);
    WorkerState& worker = workers_[combined.worker];
    if (!worker.works_on(combined.gradient)) continue;  // it left meanwhile
    reaction_.note_iteration(combined.worker, combined.batch_samples, std::exchange(worker.own_time, {}));
    worker.iteration.reset();
    worker.status = WorkerStatus::idle;
  }
}

void Coordinator::count_update(const PendingUpdate& update, Actions& actions) {
  ++updates_;
  workload().count_update();
  adopt(batch_controller_->on_update(update.workers(), phases_.workload().epoch()), actions);
  if (!evaluations_.due(done())) return;
  actions.emplace_back(evaluations_.begin(done()));
  if (!config_.workers_pay_for_evaluation) return;
  for (const WorkerId worker : workers_.members()) workers_[worker].pauses.owe_evaluation();
}

// Whatever is still on its way of it will be ignored when it arrives.
void Coordinator::drop_iteration(WorkerId id, Actions& actions) {
  WorkerState& worker = workers_[id];
  check(worker.iteration.has_value(), "a worker without an iteration has nothing to drop");
  end_overlap(worker, actions);
  if (worker.iteration->gradient_is_held) actions.emplace_back(Discard{worker.iteration->gradient});
  if (!worker.iteration->is_probe) workload().give_back(worker.iteration->samples());
  worker.iteration.reset();
  worker.own_time = {};
  worker.pauses.clear();
  worker.status = worker.is_dropped ? WorkerStatus::dropped : WorkerStatus::idle;
}

}  // namespace paceline

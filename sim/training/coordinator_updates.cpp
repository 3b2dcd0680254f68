// How gradients become updates, shard by shard.
#include <algorithm>
#include <utility>

#include "sim/base/check.hpp"
#include "sim/policy/batching/weighting.hpp"
#include "sim/training/coordinator.hpp"

namespace paceline {

void Coordinator::on(const AllReduceFinished& event, Actions& actions) {
  std::vector<WorkerId> members;
  for (const CombinedGradient& combined : pending_updates_.at(event.update).gradients)
    members.push_back(combined.worker);
  actions.emplace_back(LocalStep{event.update, std::move(members)});
}

void Coordinator::on(const StepFinished& event, Actions& actions) {
  const auto pending = pending_updates_.find(event.update);
  if (pending == pending_updates_.end()) return;  // its worker left before it could send the result
  if (pending->second.step_is_local) {
    finish_local_step(event.update, pending->second, actions);
  } else {
    finish_shard(event.update, event.server, actions);
  }
}

void Coordinator::on(const CoordinationFinished& event, Actions& actions) {
  const auto found = coordinating_.find(event.update);
  check(found != coordinating_.end(), "a coordination finished that was not under way");
  std::vector<WorkerId> workers = std::move(found->second);
  coordinating_.erase(found);
  note_coordination(event.with_worker);
  release_round(std::move(workers), actions);
}

void Coordinator::send_to_servers(WorkerId id, Actions& actions) {
  WorkerState& worker = state(id);
  worker.doing = Doing::sending;
  worker.transfer_began = now_;
  worker.parts_awaited = config_.servers;
  const bool is_coordinated = config_.coordinate_synchronous_steps && !worker.iteration->is_probe &&
                              policies_.front()->is_synchronous();
  for (std::uint64_t s = 0; s < config_.servers; ++s)
    actions.emplace_back(SendGradient{id, worker.iteration->gradient, ServerId{s}, is_coordinated});
}

void Coordinator::gradient_ready(WorkerId worker, ServerId server, Actions& actions) {
  const SynchronizationDecision decision = policies_.at(server.value)->on_gradient(worker, now_);
  // A gradient that is not an update by itself is added to those the server already holds.
  const bool alone = decision.combine.size() == 1;
  const bool dropped = std::find(decision.drop.begin(), decision.drop.end(), worker) != decision.drop.end();
  if (uses_servers() && !alone && !dropped) actions.emplace_back(Accumulate{worker, server});
  carry_out(decision, server, actions);
}

void Coordinator::carry_out(const SynchronizationDecision& decision, ServerId server, Actions& actions) {
  for (const WorkerId worker : decision.drop) {
    // Who still pauses has not begun, nor has who was refused work: they take part in the round of then.
    const bool has_begun = state(worker).iteration && state(worker).doing != Doing::pausing;
    if (has_begun) drop_iteration(worker, actions);
  }
  if (!decision.combine.empty()) return begin_update(decision, server, actions);
  // Who was late for an update that is still being carried out waits for it, and for its coordination.
  const bool is_synchronous = policies_.front()->is_synchronous();
  const auto wait_in = [&](std::vector<WorkerId>& waiting) {
    waiting.insert(waiting.end(), decision.release.begin(), decision.release.end());
  };
  if (is_synchronous && !pending_updates_.empty()) {
    wait_in(pending_updates_.rbegin()->second.release.at(server.value));
  } else if (is_synchronous && !coordinating_.empty()) {
    wait_in(coordinating_.rbegin()->second);
  } else {
    release(let_go_by(wait_for_own_updates(decision.release, server)), actions);
  }
}

// Who is let go while its own gradient is still being applied goes on after that; returns the others.
std::vector<WorkerId> Coordinator::wait_for_own_updates(const std::vector<WorkerId>& workers,
                                                        ServerId server) {
  std::vector<WorkerId> free;
  for (const WorkerId id : workers) {
    const std::optional<IterationState>& iteration = state(id).iteration;
    if (iteration && iteration->update) {
      pending_updates_.at(*iteration->update).release.at(server.value).push_back(id);
    } else {
      free.push_back(id);
    }
  }
  return free;
}

// Those of whom this was the last server to let them go.
std::vector<WorkerId> Coordinator::let_go_by(const std::vector<WorkerId>& released_by_one_server) {
  std::vector<WorkerId> free;
  for (const WorkerId id : released_by_one_server) {
    if (++state(id).released_by < deciding_servers()) continue;
    state(id).released_by = 0;
    free.push_back(id);
  }
  return free;
}

void Coordinator::begin_update(const SynchronizationDecision& decision, ServerId server, Actions& actions) {
  const std::optional<UpdateId> known = state(decision.combine.front()).iteration->update;
  const UpdateId id = known ? *known : UpdateId{updates_begun_++};
  PendingUpdate& update = pending_updates_[id];
  if (!known) {
    update.release.resize(deciding_servers());
    update.shards_left = deciding_servers();
    for (const WorkerId worker : decision.combine) add_to(update, id, worker);
  }
  check(update.gradients.size() == decision.combine.size(), "every server combines the same gradients");
  update.release.at(server.value) = decision.release;
  if (uses_servers()) {
    actions.emplace_back(Step{id, server, decision.combine, false});
  } else {
    actions.emplace_back(AllReduce{id, decision.combine, phase().transport});
  }
}

void Coordinator::add_to(PendingUpdate& update, UpdateId id, WorkerId worker) {
  IterationState& iteration = *state(worker).iteration;
  iteration.update = id;
  update.gradients.push_back(
      {worker, iteration.gradient, iteration.batch_samples, state(worker).pulled_versions});
}

void Coordinator::begin_parameter_exchange(WorkerId worker, Actions& actions) {
  const UpdateId id{updates_begun_++};
  PendingUpdate& update = pending_updates_[id];
  update.release.assign(config_.servers, {worker});
  update.shards_left = config_.servers;
  update.step_is_local = true;
  add_to(update, id, worker);
  state(worker).doing = Doing::stepping;
  actions.emplace_back(LocalStep{id, {worker}});
}

void Coordinator::finish_local_step(UpdateId, PendingUpdate& update, Actions& actions) {
  const WorkerId worker = update.gradients.front().worker;
  update.step_is_local = false;
  actions.emplace_back(ApplyLocally{worker, update.gradients.front().gradient, hyperparameters(update)});
  state(worker).iteration->gradient_is_held = false;
  send_to_servers(worker, actions);
}

void Coordinator::finish_shard(UpdateId id, ServerId server, Actions& actions) {
  PendingUpdate& update = pending_updates_.at(id);
  const bool completes = --update.shards_left == 0;
  if (uses_servers()) {
    apply_shard(id, server, completes, actions);
  } else {
    for (std::uint64_t s = 0; s < config_.servers; ++s)
      apply_shard(id, ServerId{s}, s + 1 == config_.servers, actions);
  }
  if (completes) count_update(update, actions);
  std::vector<WorkerId> free = let_go_by(update.release.at(server.value));
  const std::int64_t samples = samples_of(update);
  if (completes) pending_updates_.erase(id);
  if (free.empty()) return;
  if (config_.coordinate_synchronous_steps && policies_.front()->is_synchronous()) {
    actions.emplace_back(Coordinate{id, free, samples});
    coordinating_.emplace(id, std::move(free));
  } else {
    release_round(std::move(free), actions);
  }
}

void Coordinator::apply_shard(UpdateId id, ServerId server, bool completes, Actions& actions) {
  const PendingUpdate& update = pending_updates_.at(id);
  std::vector<std::int64_t> batches;
  for (const CombinedGradient& combined : update.gradients) batches.push_back(combined.batch_samples);
  const std::vector<double> weights = aggregation_weights(config_.batching.weighting, batches);
  std::vector<AppliedGradient> applied;
  for (std::size_t i = 0; i < update.gradients.size(); ++i) {
    const CombinedGradient& combined = update.gradients[i];
    applied.push_back({.worker = combined.worker,
                       .gradient = combined.gradient,
                       .batch_samples = combined.batch_samples,
                       .weight = weights[i],
                       .staleness = versions_[server.value] - combined.pulled_versions[server.value]});
  }
  ++versions_[server.value];
  if (phase().exchange == Exchange::parameters) {
    actions.emplace_back(Overwrite{id, server, completes, applied.front()});
  } else {
    actions.emplace_back(Apply{id, server, completes, std::move(applied), hyperparameters(update)});
  }
}

std::int64_t Coordinator::samples_of(const PendingUpdate& update) {
  std::int64_t samples = 0;
  for (const CombinedGradient& combined : update.gradients) samples += combined.batch_samples;
  return samples;
}

Hyperparameters Coordinator::hyperparameters(const PendingUpdate& update) const {
  const double progress =
      static_cast<double>(workload_.applied_samples()) / static_cast<double>(workload_.total_samples());
  const UpdateContext context{.epoch = epoch(),
                              .progress = progress,
                              .step = updates_,
                              .gradients = update.gradients.size(),
                              .samples = samples_of(update),
                              .initial_batch_samples = config_.batching.initial_samples,
                              .since_switch = since_switch()};
  return {learning_rate_at(config_.optimizer, context), momentum_at(config_.optimizer, context)};
}

void Coordinator::count_update(const PendingUpdate& update, Actions& actions) {
  for (const CombinedGradient& combined : update.gradients) {
    workload_.apply(combined.batch_samples);
    WorkerState& worker = state(combined.worker);
    if (!worker.works_on(combined.gradient)) continue;  // it left meanwhile
    note_own_time(combined.worker, combined.batch_samples);
    worker.iteration.reset();
    worker.doing = Doing::idle;
  }
  ++updates_;
  workload_.count_update();
  std::vector<WorkerId> workers;
  for (const CombinedGradient& combined : update.gradients) workers.push_back(combined.worker);
  adopt(batch_controller_->on_update(workers, epoch()), actions);
  if (!evaluations_.due(done())) return;
  evaluate(actions);
  if (!config_.workers_pay_for_evaluation) return;
  for (const WorkerId worker : members()) ++state(worker).evaluations_owed;
}

// Whatever is still on its way of it will be ignored when it arrives.
void Coordinator::drop_iteration(WorkerId id, Actions& actions) {
  WorkerState& worker = state(id);
  check(worker.iteration.has_value(), "a worker without an iteration has nothing to drop");
  if (worker.iteration->gradient_is_held) actions.emplace_back(Discard{worker.iteration->gradient});
  if (!worker.iteration->is_probe) workload_.give_back(worker.iteration->batch_samples);
  worker.iteration.reset();
  worker.own_time = {};
  worker.pauses.clear();
  worker.doing = worker.is_dropped ? Doing::dropped : Doing::idle;
}

}  // namespace paceline

// What each action of the coordinator comes to in the simulation model.
#include <algorithm>
#include <cmath>
#include <limits>
#include <utility>

#include "sim/base/check.hpp"
#include "sim/engine/executor.hpp"
#include "sim/engine/pause_duration.hpp"

namespace paceline {
namespace {

// One message each way in each of them (collective.hpp).
double rounds_of(Transport transport, std::size_t members) {
  const auto n = static_cast<double>(members);
  return transport == Transport::ring ? 2.0 * (n - 1.0) : 2.0 * std::ceil(std::log2(n));
}

}  // namespace

void Executor::carry_out(const Actions& actions) {
  for (const Action& action : actions) {
    observer_.on_action(timeline_.now(), action);
    std::visit([this](const auto& a) { carry_out(a); }, action);
  }
}

void Executor::carry_out(const StartIteration& action) {
  if (action.local) {
    learner_.train_locally(action.worker, action.batch_samples, action.local->count, action.local->inner);
    learner_.hold_difference(action.worker, action.gradient, action.local->difference);
  } else {
    learner_.compute(action.worker, action.batch_samples, action.gradient);
  }
  begin_computation(action);
}

void Executor::carry_out(const TrainOn& action) {
  learner_.train_locally(action.worker, action.batch_samples, action.local.count, action.local.inner);
  begin_computation({.worker = action.worker,
                     .gradient = action.gradient,
                     .iteration = action.iteration,
                     .batch_samples = action.batch_samples,
                     .since_start = action.since_start,
                     .local = action.local});
}

void Executor::carry_out(const SendGradient& action) {
  charge(action.from, 1.0, action.share * shard(action.server).bytes);
  const bool coordinator_pays = action.is_coordinated && model_.costs.coordination.round_trips.has_value();
  const Seconds added = coordinator_pays ? Seconds{} : conditions_.of(action.from).added_latency;
  send_after(added + model_.delays.of(action.from, action.gradient, action.server, MessageWay::to_server),
             action);
}

void Executor::send_now(const SendGradient& action) {
  send(action.from, action.server, action.share * shard(action.server).bytes,
       GradientArrived{action.from, action.gradient, action.server});
}

Bytes Executor::size_of(const SendParameters& action) const {
  if (action.is_answer_only) return {};
  return action.from_worker ? model_.parameter_bytes : shard(action.server).bytes;
}

void Executor::carry_out(const SendParameters& action) {
  charge(action.to, 1.0, size_of(action));
  if (action.from_worker) {
    charge(*action.from_worker, 1.0, size_of(action));
    return send_now(action);
  }
  send_after(model_.delays.of(action.to, action.gradient, action.server, MessageWay::to_worker), action);
}

void Executor::send_now(const SendParameters& action) {
  const ParametersArrived arrival{action.to, action.gradient, action.server};
  const Bytes size = size_of(action);
  if (action.from_worker) {
    send(*action.from_worker, action.to, size, arrival);
  } else {
    send(action.server, action.to, size, arrival);
  }
}

void Executor::carry_out(const AllReduce& action) {
  if (round_.has_gradients()) {
    round_.finish(action);
  } else {
    add_up({action.transport, action.members, action.share * model_.parameter_bytes,
            Event(AllReduceFinished{action.update})});
  }
}

void Executor::begin_next_bucket() {
  if (!round_.has_gradients()) return;
  if (const std::optional<UpdateId> update = round_.over())
    return at(timeline_.now(), Event(AllReduceFinished{*update}));
  if (const std::optional<BucketedRound::Sum> next = round_.begin_next(coordinator_.gradients_to_come()))
    add_up({next->transport, next->members, next->size, BucketSummed{next->number}});
}

void Executor::add_up(const Sum& sum) {
  const auto members = static_cast<double>(sum.members.size());
  for (const WorkerId member : sum.members)
    if (conditions_.of(member).is_present)
      charge(member, 2.0 * rounds_of(sum.transport, sum.members.size()),
             4.0 * (members - 1.0) / members * sum.size);
  Seconds added;
  if (!model_.costs.coordination.round_trips)
    for (const WorkerId member : sum.members) added = std::max(added, conditions_.of(member).added_latency);
  send_after(added, sum);
}

void Executor::send_now(const Sum& sum) {
  ++under_way_;
  // While something else is under way, it may send before the collective is over.
  const bool is_only_thing = under_way_ == 1 && !shared_machines_.is_at_work();
  const Seconds never{std::numeric_limits<double>::infinity()};
  const Seconds undisturbed_until = is_only_thing ? conditions_.next_date().value_or(never) : timeline_.now();
  timeline_.all_reduce(sum.transport, sum.members, sum.size, undisturbed_until, sum.finish);
}

void Executor::call_off(const BucketSummed& sum) {
  const auto is_it = [&](const auto& held) {
    const auto* sent = std::get_if<Sum>(&held.second);
    return sent != nullptr && is_of(sum, sent->finish);
  };
  if (std::erase_if(held_back_, is_it) == 0 && timeline_.call_off(sum)) --under_way_;
}

void Executor::carry_out(const Accumulate& action) {
  const ServerShard& part = shard(action.server);
  occupy(action.server, model_.costs.communication.of_request(part) + model_.server.accumulate(part.bytes),
         std::nullopt);
}

void Executor::carry_out(const Step& action) {
  // Taking over parameters writes as much as adding a gradient does.
  const ServerShard& part = shard(action.server);
  const Seconds duration =
      action.overwrites ? model_.server.accumulate(part.bytes) : model_.server.step(part.bytes);
  // Of several gradients each has been added before, and has paid for its request then.
  const Seconds request =
      action.workers.size() == 1 ? model_.costs.communication.of_request(part) : Seconds{};
  occupy(action.server, request + duration, action.update);
}

void Executor::carry_out(const LocalStep& action) {
  Seconds slowest;
  for (const WorkerId member : action.members) {
    const WorkerCondition& condition = conditions_.of(member);
    Seconds step = model_.compute.optimizer_step(member) / (condition.speed * condition.spell);
    if (shared_machines_.hosts(member))
      step = step * shared_machines_.slowdown_together(member, action.members);
    slowest = std::max(slowest, step);
  }
  at(timeline_.now() + slowest, Event(StepFinished{action.update, ServerId{0}}));
}

void Executor::carry_out(const Coordinate& action) {
  const CoordinationCost& cost = model_.costs.coordination;
  const auto delay_of = [&](WorkerId worker) {
    return cost.round_trips.value_or(0.0) * conditions_.of(worker).message_latency;
  };
  Seconds delays;
  for (const WorkerId worker : action.workers) delays += delay_of(worker);
  const Seconds end = timeline_.now() + cost.of(action.workers.size(), action.samples) + delays;
  if (delays > Seconds{})
    for (const WorkerId worker : action.workers)
      at(end, Event(Coordinated{worker, cost.per_worker + delay_of(worker)}));
  at(end, Event(CoordinationFinished{action.update}));
}

void Executor::carry_out(const Pause& action) {
  at(timeline_.now() + duration_of(action, model_.costs), Event(PauseEnded{action.worker, action.gradient}));
}

void Executor::carry_out(const OpenWindow& action) {
  at(timeline_.now() + action.duration, Event(WindowClosed{action.server, action.window}));
}

void Executor::carry_out(const SetTimer& action) {
  at(timeline_.now() + action.duration, Event(TimerExpired{action.phase}));
}

void Executor::carry_out(const Evaluate& action) {
  Seconds known_at = timeline_.now();
  if (model_.costs.evaluation_payer == EvaluationPayer::inline_workers) known_at += model_.costs.evaluation;
  if (model_.costs.evaluation_payer == EvaluationPayer::evaluator) {
    evaluator_free_at_ = std::max(evaluator_free_at_, known_at) + model_.costs.evaluation;
    known_at = evaluator_free_at_;
  }
  at(known_at, Event(Evaluated{action.updates, learner_.evaluate()}));
}

void Executor::carry_out(const Apply& action) {
  gradients_.clear();
  for (const AppliedGradient& applied : action.gradients) {
    gradients_.push_back({applied.gradient, applied.worker, applied.weight, applied.mean_staleness});
    if (action.takes_last_shard()) applied_samples_ += applied.batch_samples;
  }
  progress_moved_ = progress_moved_ || action.takes_last_shard();
  if (action.outer) return learner_.merge(action.server, gradients_, *action.outer);
  learner_.apply(action.server, gradients_, action.hyperparameters);
}

void Executor::carry_out(const ApplyLocally& action) {
  learner_.apply_locally(action.worker, action.gradient, action.hyperparameters);
}

void Executor::carry_out(const Overwrite& action) {
  if (action.completes_update) applied_samples_ += action.by.batch_samples;
  progress_moved_ = progress_moved_ || action.completes_update;
  learner_.overwrite(action.server, action.by.worker);
}

void Executor::carry_out(const TakeSnapshot& action) {
  if (action.mix)
    learner_.mix(action.worker, action.server, action.mix->fragment, action.mix->own);
  else
    learner_.pull(action.worker, action.server);
}

void Executor::carry_out(const Discard& action) {
  computations_.call_off(action.gradient, timeline_.now());
  shared_machines_.call_off(action.gradient, timeline_.now());
  if (const std::optional<std::uint64_t> sum = round_.call_off(action.gradient)) call_off(BucketSummed{*sum});
  std::erase_if(held_back_, [&](const auto& held) {
    const auto* sent = std::get_if<SendGradient>(&held.second);
    return sent != nullptr && sent->gradient == action.gradient;
  });
  learner_.discard(action.gradient);
}

void Executor::carry_out(const AdoptBatches& action) {
  const BalanceCause cause = batches_.empty() ? BalanceCause::start : BalanceCause::adjustment;
  batches_ = batches_of(action.allocation);
  observe_balance(cause);
}

void Executor::carry_out(const ScaleVelocity& action) {
  learner_.scale_velocity(action.factor);
}

}  // namespace paceline

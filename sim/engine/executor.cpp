#include "sim/engine/executor.hpp"

#include <algorithm>
#include <utility>

#include "sim/base/check.hpp"

namespace paceline {

Executor::Executor(Coordinator& coordinator, const SimulationModel& model, Learner& learner,
                   Timeline& timeline, RunObserver& observer)
    : coordinator_(coordinator),
      model_(model),
      learner_(learner),
      timeline_(timeline),
      observer_(observer),
      conditions_(model.heterogeneity, model.compute.random_streams(), model.seed),
      computations_(model.compute.worker_count(), model.compute.quota_clocks()),
      shared_machines_(model.shared_machines, model.compute.worker_count(), model.shards.size(),
                       model.compute.quota_clocks()),
      server_queues_(model.shards.size()),
      owed_to_messages_(model.compute.worker_count()),
      rests_since_(model.compute.worker_count()),
      prepared_(model.compute.worker_count()),
      rest_of_stretch_(model.compute.worker_count()) {}

std::optional<Stalled> Executor::run() {
  // What holds from the very start is no event: the coordinator was told who is there. Observers are told
  // here.
  static_cast<void>(follow_conditions());
  for (std::uint64_t w = 0; w < model_.compute.worker_count(); ++w)
    if (!conditions_.of(WorkerId{w}).is_present) observer_.on_event(timeline_.now(), WorkerLeft{WorkerId{w}});
  Actions actions;
  coordinator_.start(actions);
  carry_out(actions);
  schedule_shared_machines();
  schedule_conditions_change();
  const bool ended = timeline_.run(
      [this](Seconds, const std::vector<Occurrence>& occurrences) { return deliver(occurrences); });
  shared_machines_.tell_unfinished(timeline_.now(), observer_);
  if (ended) return std::nullopt;
  return Stalled{last_event_at_, coordinator_.describe_waiting()};
}

// What ends now has ended under the old conditions; what begins now begins under the new ones.
bool Executor::deliver(const std::vector<Occurrence>& occurrences) {
  events_.clear();
  bool conditions_change = false;
  bool sends_are_due = false;
  for (const Occurrence& occurrence : occurrences) {
    if (counts(occurrence)) --under_way_;
    if (const auto* event = std::get_if<Event>(&occurrence)) {
      events_.push_back(*event);
    } else if (const auto* due = std::get_if<ComputationDue>(&occurrence)) {
      const auto [done, next] = computations_.finish(due->worker, due->attempt, timeline_.now());
      if (done)
        events_.push_back(
            IterationFinished{due->worker, done->gradient, done->compute_time(timeline_.now())});
      if (next) {
        at(next->at, ComputationDue{due->worker, next->attempt});
        round_.pass_mark(due->worker);
      }
    } else if (const auto* machine = std::get_if<MachineDue>(&occurrence)) {
      for (const WorkerId worker : shared_machines_.finish(*machine, timeline_.now(), events_, observer_))
        round_.pass_mark(worker);
    } else if (const auto* bucket = std::get_if<BucketSummed>(&occurrence)) {
      round_.end(bucket->number);
    } else if (std::holds_alternative<ConditionsChange>(occurrence)) {
      conditions_change = true;
    } else {
      sends_are_due = true;
    }
  }
  if (model_.shortcuts == Shortcuts::off)
    std::erase_if(events_, [this](const Event& event) { return takes_next_step(event); });
  if (conditions_change) {
    conditions_change_at_.reset();
    for (const Event& event : follow_conditions()) events_.push_back(event);
  }
  if (sends_are_due) send_delayed(occurrences);
  if (!deliver_events()) return false;
  begin_next_bucket();  // once it is known who leaves now
  schedule_shared_machines();
  schedule_conditions_change();
  return true;
}

void Executor::send_after(Seconds delay, const Send& action) {
  if (delay == Seconds{}) return std::visit([this](const auto& now) { send_now(now); }, action);
  held_back_.emplace(held_back_so_far_, action);
  at(timeline_.now() + delay, DelayedSend{held_back_so_far_++});
}

void Executor::send_delayed(const std::vector<Occurrence>& occurrences) {
  for (const Occurrence& occurrence : occurrences)
    if (const auto* delayed = std::get_if<DelayedSend>(&occurrence))
      if (const auto held = held_back_.extract(delayed->number))
        std::visit([this](const auto& action) { send_now(action); }, held.mapped());
}

bool Executor::deliver_events() {
  while (!events_.empty()) {
    // Most of the time they are in order.
    if (!std::ranges::is_sorted(events_, {}, order_among_equals))
      std::ranges::stable_sort(events_, {}, order_among_equals);
    for (const Event& event : events_) {
      if (counts(event)) last_event_at_ = timeline_.now();
      if (const auto* ended = std::get_if<IterationFinished>(&event))
        rests_since_.at(ended->worker.value) = timeline_.now();
      observer_.on_event(timeline_.now(), event);
      actions_.clear();
      coordinator_.handle(timeline_.now(), event, actions_);
      carry_out(actions_);
      if (coordinator_.stopped()) return false;
    }
    events_.clear();
    // Updates just applied may have reached an epoch at which something changes.
    if (std::exchange(progress_moved_, false) && conditions_.is_due(position()))
      events_ = follow_conditions();
  }
  return true;
}

std::vector<Event> Executor::follow_conditions() {
  std::vector<bool> was_present;
  for (std::uint64_t w = 0; w < model_.compute.worker_count(); ++w)
    was_present.push_back(conditions_.of(WorkerId{w}).is_present);
  std::vector<Event> events;
  const std::vector<WorkerId> changed = conditions_.advance(position());
  for (const WorkerId worker : changed) {
    const bool is_present = conditions_.of(worker).is_present;
    if (is_present && !was_present[worker.value]) events.emplace_back(WorkerJoined{worker});
    if (!is_present && was_present[worker.value]) {
      events.emplace_back(WorkerLeft{worker});
      drop_messages(worker);
    }
    timeline_.set_bandwidth_factor(worker, conditions_.of(worker).bandwidth);
    if (shared_machines_.hosts(worker)) {
      if (const std::optional<Computation>& computation = shared_machines_.of(worker))
        shared_machines_.change_pace(worker, timeline_.now(), pace(worker, computation->batch_samples));
      continue;
    }
    const std::optional<Computation>& computation = computations_.of(worker);
    if (!computation) continue;
    if (const auto end =
            computations_.change_rate(worker, timeline_.now(), rate(worker, computation->batch_samples)))
      at(end->at, ComputationDue{worker, end->attempt});
  }
  if (!changed.empty() && !batches_.empty()) observe_balance(BalanceCause::conditions);
  return events;
}

JobPosition Executor::position() const {
  const auto samples = static_cast<double>(applied_samples_);
  return {timeline_.now(), samples / static_cast<double>(model_.dataset_samples),
          samples / static_cast<double>(model_.total_samples)};
}

// Scheduled only while something else is to come: a change of speeds alone cannot move a job that stalled.
void Executor::schedule_conditions_change() {
  if (under_way_ == 0 && !conditions_.awaits_workers()) return;
  const std::optional<Seconds> next = conditions_.next_date();
  if (!next || (conditions_change_at_ && *conditions_change_at_ <= *next)) return;
  conditions_change_at_ = next;
  timeline_.at(*next, ConditionsChange{});
}

void Executor::schedule_shared_machines() {
  if (!shared_machines_.have_moved()) return;
  shared_machines_.settle(timeline_.now(), [this](Seconds date, const MachineDue& due) { at(date, due); });
}

void Executor::observe_balance(BalanceCause cause) {
  std::vector<BalancedWorker> present;
  for (std::uint64_t w = 0; w < batches_.size(); ++w) {
    const WorkerCondition& condition = conditions_.of(WorkerId{w});
    if (!condition.is_present) continue;
    present.push_back({model_.compute.law(WorkerId{w}, condition.cores, condition.speed), batches_[w]});
  }
  if (!present.empty()) observer_.on_balance(timeline_.now(), cause, balance_of(present));
}

// Whether it can bring the job forward: timers and the results of evaluations start nothing, nor do changes
// of conditions.
bool Executor::counts(const Event& event) {
  return !std::holds_alternative<TimerExpired>(event) && !std::holds_alternative<Evaluated>(event);
}

bool Executor::counts(const Occurrence& occurrence) {
  if (std::holds_alternative<ConditionsChange>(occurrence)) return false;
  const auto* event = std::get_if<Event>(&occurrence);
  return event == nullptr || counts(*event);
}

void Executor::at(Seconds date, Occurrence occurrence) {
  if (counts(occurrence)) ++under_way_;
  timeline_.at(date, occurrence);
}

void Executor::send(Endpoint from, Endpoint to, Bytes size, Event arrival) {
  ++under_way_;
  timeline_.send(from, to, size, arrival);
}

void Executor::occupy(ServerId server, Seconds duration, std::optional<UpdateId> step) {
  const Seconds waited_for = (1.0 - model_.costs.communication.server_overlap) * duration;
  if (shared_machines_.hosts(server))
    return shared_machines_.enqueue(server, timeline_.now(), {waited_for, duration - waited_for, step},
                                    observer_);
  ServerQueue& queue = server_queues_.at(server.value);
  const auto serve_later = [&](Seconds time) {
    if (time == Seconds{}) return;
    observer_.on_server_work(server, std::nullopt, queue.free_at, queue.free_at + time);
    queue.free_at += time;
    queue.later -= time;
  };
  // While nothing else was asked for.
  serve_later(std::min(queue.later, std::max(Seconds{}, timeline_.now() - queue.free_at)));
  const Seconds begin = std::max(queue.free_at, timeline_.now());
  queue.free_at = begin + waited_for;
  observer_.on_server_work(server, step, begin, queue.free_at);
  if (step) at(queue.free_at, Event(StepFinished{*step, server}));
  queue.later += duration - waited_for;
  if (step) serve_later(queue.later);
}

void Executor::charge(WorkerId worker, double messages, Bytes bytes) {
  const CommunicationCost& cost = model_.costs.communication;
  const bool shares = shared_machines_.hosts(worker);
  const bool computes = (shares ? shared_machines_.of(worker) : computations_.of(worker)).has_value();
  const Seconds time = cost.of(messages, bytes);
  const Seconds meanwhile = computes ? Seconds{} : cost.worker_overlap * time;
  owed_to_messages_.at(worker.value) += time - meanwhile;
  if (meanwhile == Seconds{}) return;
  if (shares) return shared_machines_.handle_messages(worker, timeline_.now(), meanwhile);
  computations_.handle_messages(worker, timeline_.now(), meanwhile);
}

void Executor::drop_messages(WorkerId worker) {
  owed_to_messages_.at(worker.value) = {};
  if (shared_machines_.hosts(worker)) return shared_machines_.drop_messages(worker, timeline_.now());
  computations_.drop_messages(worker, timeline_.now());
}

}  // namespace paceline

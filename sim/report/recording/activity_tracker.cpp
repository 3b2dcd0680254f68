#include "sim/report/recording/activity_tracker.hpp"

#include <algorithm>

#include "sim/base/check.hpp"

namespace paceline {
namespace {

Activity activity_of(PauseKind kind) {
  constexpr std::pair<PauseKind, Activity> activities[] = {
      {PauseKind::start_up, Activity::start_up},     {PauseKind::switching, Activity::switching},
      {PauseKind::regrouping, Activity::switching},  {PauseKind::probing, Activity::switching},
      {PauseKind::checkpoint, Activity::checkpoint}, {PauseKind::adjustment, Activity::adjustment},
      {PauseKind::evaluation, Activity::evaluation}};
  const auto* found = std::ranges::find(activities, kind, &std::pair<PauseKind, Activity>::first);
  check(found != std::end(activities), "a pause of every kind is an activity");
  return found->second;
}

constexpr auto everything = [](const auto&) { return true; };

}  // namespace

void ActivityTracker::on_event(Seconds now, const Event& event) {
  std::visit(
      [&](const auto& one) {
        if constexpr (requires { note(now, one); }) note(now, one);
      },
      event);
}

void ActivityTracker::note(Seconds now, const IterationFinished& e) {
  for (OpenTask& open : of(e.worker).open)
    if (open.task.kind == TaskKind::collective) open.begin = now;
  end(now, e.worker, {TaskKind::iteration, e.gradient.value});
}
void ActivityTracker::note(Seconds now, const GradientArrived& e) {
  end(now, e.worker, {TaskKind::push, e.gradient.value, e.server.value});
}
void ActivityTracker::note(Seconds now, const ParametersArrived& e) {
  end(now, e.worker, {TaskKind::pull, e.gradient.value, e.server.value});
}
void ActivityTracker::note(Seconds now, const StepFinished& e) {
  end_together(now, {TaskKind::step, e.update.value, e.server.value});
}
void ActivityTracker::note(Seconds now, const AllReduceFinished& e) {
  end_together(now, {TaskKind::collective, e.update.value});
}
void ActivityTracker::note(Seconds now, const CoordinationFinished& e) {
  end_together(now, {TaskKind::coordination, e.update.value});
}
void ActivityTracker::note(Seconds now, const PauseEnded& e) {
  end_pause(now, e.worker, e.gradient);
}
void ActivityTracker::note(Seconds now, const WorkerLeft& e) {
  end_where(now, e.worker, everything);
  begin(now, e.worker, {TaskKind::absence}, Activity::away);
  of(e.worker).away = true;
}
void ActivityTracker::note(Seconds now, const WorkerJoined& e) {
  end(now, e.worker, {TaskKind::absence});
  of(e.worker).away = false;
}

void ActivityTracker::on_action(Seconds now, const Action& action) {
  std::visit(
      [&](const auto& one) {
        if constexpr (requires { note(now, one); }) note(now, one);
      },
      action);
}

void ActivityTracker::note(Seconds now, const StartIteration& a) {
  begin(now, a.worker, {TaskKind::iteration, a.gradient.value}, Activity::compute);
}
void ActivityTracker::note(Seconds now, const TrainOn& a) {
  begin(now, a.worker, {TaskKind::iteration, a.gradient.value}, Activity::compute);
}
void ActivityTracker::note(Seconds now, const SendGradient& a) {
  begin(now, a.from, {TaskKind::push, a.gradient.value, a.server.value}, Activity::transfer);
}
void ActivityTracker::note(Seconds now, const SendParameters& a) {
  begin(now, a.to, {TaskKind::pull, a.gradient.value, a.server.value}, Activity::transfer);
}
void ActivityTracker::note(Seconds now, const AllReduce& a) {
  begin_together(now, a.members, {TaskKind::collective, a.update.value}, Activity::transfer);
}
void ActivityTracker::note(Seconds now, const Step& a) {
  begin_together(now, a.workers, {TaskKind::step, a.update.value, a.server.value}, Activity::server);
}
void ActivityTracker::note(Seconds now, const LocalStep& a) {
  begin_together(now, a.members, {TaskKind::step, a.update.value}, Activity::compute);
}
void ActivityTracker::note(Seconds now, const Coordinate& a) {
  begin_together(now, a.workers, {TaskKind::coordination, a.update.value}, Activity::coordination);
}
void ActivityTracker::note(Seconds now, const Pause& a) {
  begin(now, a.worker, {TaskKind::pause, a.gradient.value}, activity_of(a.kind));
}
void ActivityTracker::note(Seconds now, const Discard& a) {
  call_off(now, a.gradient);
}
void ActivityTracker::note(Seconds, const AdoptBatches& a) {
  // The first of them says how many workers there are, busy or not.
  if (!a.allocation.empty()) static_cast<void>(of(WorkerId{a.allocation.size() - 1}));
}

void ActivityTracker::finish(Seconds end) {
  for (std::uint64_t w = 0; w < workers_.size(); ++w) {
    end_where(end, WorkerId{w}, everything);
    WorkerActivities& worker = workers_[w];
    add(WorkerId{w}, worker, Activity::wait, worker.accounted_until, end, nullptr);
    worker.accounted_until = end;
  }
}

std::vector<ActivityTimes> ActivityTracker::times() const {
  std::vector<ActivityTimes> times;
  for (const WorkerActivities& worker : workers_) times.push_back(worker.times);
  return times;
}

void ActivityTracker::begin(Seconds now, WorkerId id, const Task& task, Activity activity) {
  WorkerActivities& worker = of(id);
  if (worker.away) return;
  if (!worker.open.empty()) {
    // What was called off is over at the latest now; and so is a collective whose worker does something that
    // follows it.
    end_where(now, id, [&](const OpenTask& open) {
      const bool follows = task.kind == TaskKind::iteration || task.kind == TaskKind::collective;
      return open.called_off || (follows && open.task.kind == TaskKind::collective && open.task != task);
    });
    if (task.kind != TaskKind::pause &&
        std::ranges::find(worker.open, task, &OpenTask::task) != worker.open.end())
      return;
  }
  if (worker.open.empty()) {
    add(id, worker, Activity::wait, worker.accounted_until, now, nullptr);
    worker.accounted_until = now;
  }
  worker.open.push_back({task, activity, now});
}

void ActivityTracker::end(Seconds now, WorkerId id, const Task& task) {
  WorkerActivities& worker = of(id);
  if (worker.open.size() == 1 && worker.closed.empty() && worker.open.front().task == task) {
    // The only one of its stretch, as most are: nothing is to be shared out.
    const OpenTask alone = worker.open.front();
    worker.open.clear();
    worker.accounted_until = now;
    return add(id, worker, alone.activity, alone.begin, now, &alone.task);
  }
  end_where(now, id, [&](const OpenTask& open) { return open.task == task; });
}

void ActivityTracker::end_pause(Seconds now, WorkerId id, GradientId gradient) {
  // An answer does not say which kind of pause before that iteration is over: the oldest.
  WorkerActivities& worker = of(id);
  const auto oldest = std::ranges::find(worker.open, Task{TaskKind::pause, gradient.value},
                                        [](const OpenTask& o) { return o.task; });
  if (oldest == worker.open.end()) return;
  close(now, worker, static_cast<std::size_t>(oldest - worker.open.begin()));
  if (worker.open.empty()) account(id, worker);
}

template <class Condition>
void ActivityTracker::end_where(Seconds now, WorkerId id, const Condition& condition) {
  WorkerActivities& worker = of(id);
  if (worker.open.empty()) return;
  for (std::size_t i = 0; i < worker.open.size();) {
    if (!condition(worker.open[i]))
      ++i;
    else
      close(now, worker, i);
  }
  if (worker.open.empty()) account(id, worker);
}

void ActivityTracker::begin_together(Seconds now, const std::vector<WorkerId>& workers, const Task& task,
                                     Activity activity) {
  taking_part_[task] = workers;
  for (const WorkerId worker : workers) begin(now, worker, task, activity);
}

void ActivityTracker::end_together(Seconds now, const Task& task) {
  const auto found = taking_part_.find(task);
  if (found == taking_part_.end()) return;  // called off meanwhile
  for (const WorkerId worker : found->second) end(now, worker, task);
  taking_part_.erase(found);
}

// A computation stops at once; what is on its way travels on.
void ActivityTracker::call_off(Seconds now, GradientId gradient) {
  for (std::uint64_t w = 0; w < workers_.size(); ++w) {
    end(now, WorkerId{w}, {TaskKind::iteration, gradient.value});
    for (OpenTask& open : workers_[w].open)
      if (open.task.kind <= TaskKind::pull && open.task.subject == gradient.value) open.called_off = true;
  }
}

void ActivityTracker::close(Seconds now, WorkerActivities& worker, std::size_t index) {
  const OpenTask& open = worker.open[index];
  worker.closed.push_back({open.task, open.activity, open.begin, now});
  worker.open.erase(worker.open.begin() + static_cast<std::ptrdiff_t>(index));
}

void ActivityTracker::account(WorkerId id, WorkerActivities& worker) {
  // From the last to end backwards: each gets what those that end later have left.
  std::vector<ClosedTask>& closed = worker.closed;
  if (closed.empty()) return;
  Seconds left_until = closed.back().end;
  worker.accounted_until = left_until;
  std::size_t kept = closed.size();
  for (std::size_t i = closed.size(); i-- > 0;) {
    const ClosedTask task = closed[i];
    if (task.begin >= left_until) continue;
    closed[--kept] = {task.task, task.activity, task.begin, left_until};
    left_until = task.begin;
  }
  for (std::size_t i = kept; i < closed.size(); ++i)
    add(id, worker, closed[i].activity, closed[i].begin, closed[i].end, &closed[i].task);
  closed.clear();
}

void ActivityTracker::add(WorkerId id, WorkerActivities& worker, Activity activity, Seconds begin,
                          Seconds end, const Task* task) {
  if (end <= begin) return;
  worker.times[static_cast<std::size_t>(activity)] += end - begin;
  if (!keep_spans_) return;
  ActivitySpan& span = spans_.emplace_back(ActivitySpan{id, activity, begin, end});
  if (task == nullptr) return;
  constexpr const char* names[] = {"compute", "push",       "pull",  "all-reduce",
                                   "step",    "coordinate", "pause", "away"};
  span.task = names[static_cast<std::size_t>(task->kind)];
  if (task->kind < TaskKind::pause) span.number = task->subject;
  if (activity == Activity::server || task->kind == TaskKind::push || task->kind == TaskKind::pull)
    span.server = task->server;
}

}  // namespace paceline

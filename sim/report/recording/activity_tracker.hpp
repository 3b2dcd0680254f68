// Tells from events and actions alone what each worker does, from the start of the job to its end.
//
// Models:      a worker's open tasks: an action opens one (StartIteration, SendGradient, ...), the event that
//              answers it closes it. A stretch during which some task is open is cut so that each instant
//              belongs to the task that ends last; the stretches between are waiting.
// Equation:    for every worker: sum over activities of its times = time of `finish`.
// Units:       seconds.
// Assumptions: who trains on while differences travel computes; from then on it waits for them.
//              a discarded gradient's task is over when its answer comes or when the worker begins something
//              else, whichever is first; a worker that left does nothing until it is back.
// Not modelled: what a worker does for others (sending its parameters to one that joins).
#pragma once

#include <compare>
#include <cstdint>
#include <map>
#include <utility>
#include <vector>

#include "sim/report/recording/activity.hpp"
#include "sim/training/action.hpp"
#include "sim/training/event.hpp"

namespace paceline {

class ActivityTracker {
 public:
  // `keep_spans`: whether every stretch is kept, or only their sums.
  explicit ActivityTracker(bool keep_spans) : keep_spans_(keep_spans) {}

  void on_event(Seconds now, const Event& event);
  void on_action(Seconds now, const Action& action);
  // The job is over: so is everything under way.
  void finish(Seconds end);

  // Of each worker, complete after `finish`.
  [[nodiscard]] std::vector<ActivityTimes> times() const;
  // In the order in which they became known; by time for each worker.
  [[nodiscard]] std::vector<ActivitySpan> take_spans() { return std::move(spans_); }

 private:
  enum class TaskKind : std::uint8_t {
    iteration,
    push,
    pull,
    collective,
    step,
    coordination,
    pause,
    absence
  };
  struct Task {
    TaskKind kind;
    std::uint64_t subject = 0;  // the gradient or update it is about
    std::uint64_t server = 0;
    friend auto operator<=>(const Task&, const Task&) = default;
  };
  struct OpenTask {
    Task task;
    Activity activity;
    Seconds begin;
    bool called_off = false;
  };
  struct ClosedTask {
    Task task;
    Activity activity;
    Seconds begin;
    Seconds end;
  };
  struct WorkerActivities {
    std::vector<OpenTask> open;
    std::vector<ClosedTask> closed;  // since something was last open without interruption, by end
    Seconds accounted_until;
    bool away = false;
    ActivityTimes times{};
  };
  void note(Seconds now, const IterationFinished& e);
  void note(Seconds now, const GradientArrived& e);
  void note(Seconds now, const ParametersArrived& e);
  void note(Seconds now, const StepFinished& e);
  void note(Seconds now, const AllReduceFinished& e);
  void note(Seconds now, const CoordinationFinished& e);
  void note(Seconds now, const PauseEnded& e);
  void note(Seconds now, const WorkerLeft& e);
  void note(Seconds now, const WorkerJoined& e);
  void note(Seconds now, const StartIteration& a);
  void note(Seconds now, const TrainOn& a);
  void note(Seconds now, const SendGradient& a);
  void note(Seconds now, const SendParameters& a);
  void note(Seconds now, const AllReduce& a);
  void note(Seconds now, const Step& a);
  void note(Seconds now, const LocalStep& a);
  void note(Seconds now, const Coordinate& a);
  void note(Seconds now, const Pause& a);
  void note(Seconds now, const Discard& a);
  void note(Seconds now, const AdoptBatches& a);
  void begin(Seconds now, WorkerId worker, const Task& task, Activity activity);
  void end(Seconds now, WorkerId worker, const Task& task);
  void end_pause(Seconds now, WorkerId worker, GradientId gradient);
  template <class Condition>
  void end_where(Seconds now, WorkerId worker, const Condition& condition);
  void begin_together(Seconds now, const std::vector<WorkerId>& workers, const Task& task, Activity activity);
  void end_together(Seconds now, const Task& task);
  void call_off(Seconds now, GradientId gradient);
  void close(Seconds now, WorkerActivities& worker, std::size_t index);
  // Shares out a stretch in which something was always open.
  void account(WorkerId worker, WorkerActivities& activities);
  // `task`: null where it waits.
  void add(WorkerId worker, WorkerActivities& activities, Activity activity, Seconds begin, Seconds end,
           const Task* task);
  WorkerActivities& of(WorkerId worker) {
    if (worker.value >= workers_.size()) workers_.resize(worker.value + 1);
    return workers_[worker.value];
  }

  bool keep_spans_;
  std::vector<WorkerActivities> workers_;
  std::map<Task, std::vector<WorkerId>> taking_part_;  // in what is answered for all at once
  std::vector<ActivitySpan> spans_;
};

}  // namespace paceline

// What a coordinator asks its executor to do. Timed actions are answered by an event; the others are carried
// out at once, in the order given, before the next event is delivered.
#pragma once

#include <cstdint>
#include <optional>
#include <string_view>
#include <variant>
#include <vector>

#include "sim/base/id.hpp"
#include "sim/base/quantity.hpp"
#include "sim/learning/learner.hpp"
#include "sim/policy/batching/batch_controller.hpp"
#include "sim/policy/switching/switch_policy.hpp"
#include "sim/policy/synchronization/phase.hpp"

namespace paceline {

// --- timed -------------------------------------------------------------------------------------------------

// Several steps of the worker's optimizer on its own copy.
struct LocalSteps {
  std::int64_t count = 1;
  Hyperparameters inner;
  DifferenceToSend difference{};
};
// The gradient is summed in buckets, the first ones while it is still computed.
struct BucketedReduction {
  BucketSizes sizes;
  Transport transport = Transport::ring;
};
// Compute the gradient of the worker's next `batch_samples` samples on the parameters it pulled; or train on
// that many in each of some local steps, and take the difference for the gradient. Answer: IterationFinished.
struct StartIteration {
  WorkerId worker;
  GradientId gradient;
  std::uint64_t iteration = 0;  // of this worker, from 0; local steps count one by one
  std::int64_t batch_samples = 0;
  std::uint64_t since_start = 0;  // its iterations since it was last started or restarted
  std::optional<LocalSteps> local{};
  std::optional<Hyperparameters> own_step{};  // that the worker takes with its gradient afterwards, if any
  std::optional<BucketedReduction> buckets{};
};
// Train on, while the difference of the iteration travels. Answer: IterationFinished, once more.
struct TrainOn {
  WorkerId worker;
  GradientId gradient;
  std::uint64_t iteration = 0;  // of this worker: its first step
  std::int64_t batch_samples = 0;
  std::uint64_t since_start = 0;
  LocalSteps local{};
};
// Send one server its shard of the gradient (or of the worker's parameters, when those are exchanged).
// Answer: GradientArrived.
struct SendGradient {
  WorkerId from;
  GradientId gradient;
  ServerId server;
  // A serial coordinator follows: it pays the worker's added latency, if it has its own number.
  bool is_coordinated = false;
  double share = 1.0;  // of the shard's bytes
};
// Send a worker one server's shard of the parameters; after an all-reduce phase's change of members,
// `from_worker` sends all of them. Or only an answer to parameters that it has pushed, without bytes. Answer:
// ParametersArrived.
struct SendParameters {
  WorkerId to;
  GradientId gradient;
  ServerId server;
  std::optional<WorkerId> from_worker;
  std::int64_t batch_samples = 0;  // of the iteration that follows
  bool is_answer_only = false;
  std::optional<Hyperparameters> own_step{};  // of that iteration
};
// Sum the members' gradients so that each of them holds the result; of those that are summed in buckets, what
// has not been yet. Answer: AllReduceFinished.
struct AllReduce {
  UpdateId update;
  std::vector<WorkerId> members;
  Transport transport = Transport::ring;
  double share = 1.0;  // of the parameters' bytes
};
// The server adds one gradient to those it already holds. Nobody waits for it by itself: no answer, but the
// server's later work queues behind it.
struct Accumulate {
  WorkerId from;
  ServerId server;
};
// One optimizer step on a server's shard, with the gradients of `workers`. Answer: StepFinished.
struct Step {
  UpdateId update;
  ServerId server;
  std::vector<WorkerId> workers;
  bool overwrites = false;  // the server takes over a worker's parameters instead
};
// One optimizer step on each of the members, until the slowest one is done. Answer: StepFinished (server 0).
struct LocalStep {
  UpdateId update;
  std::vector<WorkerId> members;
};
// The serial part of a synchronous step: nobody goes on before it is over. Answer: CoordinationFinished.
struct Coordinate {
  UpdateId update;
  std::vector<WorkerId> workers;
  std::int64_t samples = 0;
};
// regrouping: workers were dropped or taken in again; probing: a dropped one is being probed.
enum class PauseKind { start_up, switching, checkpoint, evaluation, adjustment, regrouping, probing };
// A worker rests; what for says how long. Answer: PauseEnded.
struct Pause {
  WorkerId worker;
  PauseKind kind = PauseKind::switching;
  std::size_t phase = 0;  // that is running, or about to begin
  GradientId gradient;    // of the iteration that follows
};
// Answer: WindowClosed, also after the phase.
struct OpenWindow {
  ServerId server;
  std::uint64_t window = 0;
  Seconds duration;
};
// Answer: TimerExpired, unless the phase is over before.
struct SetTimer {
  std::size_t phase = 0;
  Seconds duration;
};
// Measure loss and accuracy of the present parameters. Answer: Evaluated.
struct Evaluate {
  std::uint64_t updates = 0;
  std::int64_t samples = 0;
};

// --- carried out at once -----------------------------------------------------------------------------------

// One gradient of an update, as applied.
struct AppliedGradient {
  WorkerId worker;
  GradientId gradient;
  std::int64_t batch_samples = 0;
  double weight = 1.0;
  // Updates applied between the pull it was computed on and its own application: of this shard, and over
  // those applied so far.
  std::uint64_t staleness = 0;
  std::uint64_t largest_staleness = 0;
  double mean_staleness = 0.0;
};
// Change one shard of the global parameters; with differences for gradients by an outer step.
struct Apply {
  UpdateId update;
  ServerId server;
  bool completes_update = true;            // no other shard is left, and no buffer to fill
  std::vector<AppliedGradient> gradients;  // by worker
  Hyperparameters hyperparameters;
  std::optional<OuterStep> outer{};

  // Its gradients are used up, be it in a buffer.
  [[nodiscard]] bool takes_last_shard() const { return completes_update || (outer && outer->is_added_only); }
};
// The worker takes an optimizer step on its own copy (when parameters are exchanged instead of gradients) …
struct ApplyLocally {
  WorkerId worker;
  GradientId gradient;
  Hyperparameters hyperparameters;
};
// … and a shard of the global parameters becomes the worker's: the last writer wins.
struct Overwrite {
  UpdateId update;
  ServerId server;
  bool completes_update = true;
  AppliedGradient by;
};
// The worker's copy of a shard becomes the present global parameters (before they travel to it); or of one
// fragment only, and of that a part stays the worker's own.
struct Mix {
  Fragment fragment;
  double own = 0.0;
};
struct TakeSnapshot {
  WorkerId worker;
  ServerId server;
  std::optional<Mix> mix{};
};
// From now on released workers train with these batches.
struct AdoptBatches {
  Allocation allocation;
};
// A gradient that was started will never be applied.
struct Discard {
  GradientId gradient;
};
// Every velocity of the optimizer is multiplied by this.
struct ScaleVelocity {
  double factor = 1.0;
};
struct EnterPhase {
  std::size_t phase = 0;
};
// What the switch policy saw at the end of a window, and what it decided: for the results.
struct Judge {
  std::vector<Judgement> judgements;
};
struct Decide {
  Decision decision;
};

enum class EndReason { target_reached, workload_done, diverged };
// The job is over; every gradient in flight has been discarded.
struct Stop {
  EndReason reason = EndReason::workload_done;
  // Of the evaluation that reached the target (the first one of those in a row).
  std::optional<std::uint64_t> reached_after_updates{};
};

using Action =
    std::variant<StartIteration, TrainOn, SendGradient, SendParameters, AllReduce, Accumulate, Step,
                 LocalStep, Coordinate, Pause, OpenWindow, SetTimer, Evaluate, Apply, ApplyLocally, Overwrite,
                 TakeSnapshot, AdoptBatches, Discard, ScaleVelocity, EnterPhase, Judge, Decide, Stop>;
using Actions = std::vector<Action>;

[[nodiscard]] constexpr std::string_view to_string(EndReason reason) {
  constexpr std::string_view names[] = {"target-reached", "workload-done", "diverged"};
  return names[static_cast<std::size_t>(reason)];
}

}  // namespace paceline

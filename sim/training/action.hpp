// What a coordinator asks its executor to do. Timed actions are answered by an event; the others are carried out
// at once, in the order given, before the next event is delivered.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <variant>
#include <vector>

#include "sim/base/id.hpp"
#include "sim/base/quantity.hpp"
#include "sim/learning/learner.hpp"
#include "sim/policy/batch_controller.hpp"

namespace paceline {

// --- timed ---------------------------------------------------------------------------------------------------

// Compute the gradient of the worker's next `batch_samples` samples on the parameters it pulled.
// Answer: IterationFinished.
struct StartIteration {
  WorkerId worker;
  GradientId gradient;
  std::uint64_t iteration = 0;  // of this worker, from 0
  std::int64_t batch_samples = 0;
};
// Answer: GradientArrived.
struct SendGradient {
  WorkerId from;
};
// Answer: ParametersArrived.
struct SendParameters {
  WorkerId to;
};
// Sum the members' gradients so that each of them holds the result. Answer: AllReduceFinished.
struct AllReduce {
  UpdateId update;
  std::vector<WorkerId> members;
};
// The server adds one gradient to those it already holds. Nobody waits for it by itself: no answer, but the
// server's later work queues behind it.
struct Accumulate {
  WorkerId from;
};
// One optimizer step: at the server when there are no members, otherwise on every member, until the slowest one
// is done. Answer: StepFinished.
struct Step {
  UpdateId update;
  std::vector<WorkerId> members;
};
// Everything rests before the next phase. Answer: PauseEnded.
struct Pause {
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
  std::uint64_t staleness = 0;  // updates applied between the pull it was computed on and its own application
};
// Change the global parameters.
struct Apply {
  UpdateId update;
  std::vector<AppliedGradient> gradients;  // by worker
  Hyperparameters hyperparameters;
};
// The worker's copy becomes the present global parameters (before they travel to it).
struct TakeSnapshot {
  WorkerId worker;
};
// From now on released workers train with these batches.
struct AdoptBatches {
  Batches batches;
};
// A gradient that was started will never be applied.
struct Discard {
  GradientId gradient;
};
struct EnterPhase {
  std::size_t phase = 0;
};

enum class EndReason { target_reached, workload_done, diverged };
// The job is over; every gradient in flight has been discarded.
struct Stop {
  EndReason reason = EndReason::workload_done;
};

using Action = std::variant<StartIteration, SendGradient, SendParameters, AllReduce, Accumulate, Step, Pause,
                            Evaluate, Apply, TakeSnapshot, AdoptBatches, Discard, EnterPhase, Stop>;
using Actions = std::vector<Action>;

[[nodiscard]] std::string to_string(EndReason reason);

}  // namespace paceline

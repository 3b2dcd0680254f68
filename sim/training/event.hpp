// What can happen to a training job, as its coordinator sees it.
//
// The alternatives of Event are in the order in which events of equal time reach the coordinator; within one
// alternative the lower worker or update goes first. Every executor keeps this order, so that a tie is broken the
// same way in virtual time, in the ideal oracle and on real machines.
#pragma once

#include <cstdint>
#include <optional>
#include <utility>
#include <variant>

#include "sim/base/id.hpp"
#include "sim/base/quantity.hpp"
#include "sim/learning/learner.hpp"

namespace paceline {

// A worker has computed its gradient.
struct IterationFinished {
  WorkerId worker;
  Seconds compute_time;  // forward and backward only
};
// A worker's gradient has reached the server.
struct GradientArrived {
  WorkerId worker;
};
// The parameters sent to a worker have reached it.
struct ParametersArrived {
  WorkerId worker;
};
// Every member of an all-reduce holds the combined gradient.
struct AllReduceFinished {
  UpdateId update;
};
// The optimizer step of an update is done (at the server, or on every member).
struct StepFinished {
  UpdateId update;
};
// The pause before a phase is over.
struct PauseEnded {};
// The evaluation of the parameters after `updates` updates is known; nothing when the job does not learn.
struct Evaluated {
  std::uint64_t updates = 0;
  std::optional<Evaluation> evaluation;
};

using Event = std::variant<IterationFinished, GradientArrived, ParametersArrived, AllReduceFinished,
                           StepFinished, PauseEnded, Evaluated>;

// Sort key of events that share a time: (kind, worker or update).
[[nodiscard]] std::pair<std::size_t, std::uint64_t> order_among_equals(const Event& event);

}  // namespace paceline

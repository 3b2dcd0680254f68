// What can happen to a training job, as its coordinator sees it.
//
// The alternatives of Event are in the order in which events of equal time reach the coordinator; within one
// alternative the lower worker or update goes first, then the lower server. Every executor keeps this order,
// so that a tie is broken the same way in virtual time, in the ideal oracle and on real machines. Events
// about a gradient name it: an answer to something that was called off meanwhile is recognized and ignored.
#pragma once

#include <cstdint>
#include <optional>
#include <tuple>
#include <type_traits>
#include <variant>

#include "sim/base/id.hpp"
#include "sim/base/quantity.hpp"
#include "sim/learning/learner.hpp"

namespace paceline {

// A worker is gone, with what it was doing; or is there again, without parameters.
struct WorkerLeft {
  WorkerId worker;
  // The other members of an all-reduce have not got its gradient: they begin again without it.
  bool takes_gradient_along = false;
};
struct WorkerJoined {
  WorkerId worker;
};
// A window that a policy opened at a server is over: what comes at this moment is too late for it.
struct WindowClosed {
  ServerId server;
  std::uint64_t window = 0;
};
// A worker has computed its gradient.
struct IterationFinished {
  WorkerId worker;
  GradientId gradient;
  Seconds compute_time;  // forward and backward only, without what messages take of its processor
};
// One server's shard of a worker's gradient (or of its parameters, when those are exchanged) has reached the
// server.
struct GradientArrived {
  WorkerId worker;
  GradientId gradient;
  ServerId server;
};
// One server's shard of the parameters sent to a worker has reached it. `gradient` names the iteration they
// are for.
struct ParametersArrived {
  WorkerId worker;
  GradientId gradient;
  ServerId server;
};
// Every member of an all-reduce holds the combined gradient.
struct AllReduceFinished {
  UpdateId update;
};
// The optimizer step of an update is done at one server; or on every member, after an all-reduce or a local
// step.
struct StepFinished {
  UpdateId update;
  ServerId server;
};
// How long the serial part of a synchronous step that ends now was busy with a worker; not said when with all
// alike.
struct Coordinated {
  WorkerId worker;
  Seconds time;
};
// The serial part of a synchronous step is over.
struct CoordinationFinished {
  UpdateId update;
};
// A worker's pause is over; `gradient` names the iteration that follows.
struct PauseEnded {
  WorkerId worker;
  GradientId gradient;
};
// The time given to a phase is over.
struct TimerExpired {
  std::size_t phase = 0;
};
// The evaluation of the parameters after `updates` updates is known; nothing when the job does not learn.
struct Evaluated {
  std::uint64_t updates = 0;
  std::optional<Evaluation> evaluation;
};

using Event = std::variant<WorkerLeft, WorkerJoined, WindowClosed, IterationFinished, GradientArrived,
                           ParametersArrived, AllReduceFinished, StepFinished, Coordinated,
                           CoordinationFinished, PauseEnded, TimerExpired, Evaluated>;
// Millions of them are copied.
static_assert(std::is_trivially_copyable_v<Event>);

// Sort key of events that share a time: (kind, worker or update, server).
[[nodiscard]] inline std::tuple<std::size_t, std::uint64_t, std::uint64_t> order_among_equals(
    const Event& event) {
  return std::visit(
      [&](const auto& e) {
        std::uint64_t subject = 0;
        std::uint64_t server = 0;
        if constexpr (requires { e.worker; }) subject = e.worker.value;
        if constexpr (requires { e.update; }) subject = e.update.value;
        if constexpr (requires { e.updates; }) subject = e.updates;
        if constexpr (requires { e.phase; }) subject = e.phase;
        if constexpr (requires { e.server; }) server = e.server.value;
        return std::tuple(event.index(), subject, server);
      },
      event);
}

}  // namespace paceline

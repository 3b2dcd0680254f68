// What a timeline brings back: an event of the job, or a note the executor wrote to itself.
#pragma once

#include <cstdint>
#include <variant>

#include "sim/base/id.hpp"
#include "sim/training/action.hpp"
#include "sim/training/event.hpp"

namespace paceline {

// Something in the world changes now: speeds, links, members.
struct WorldChange {};

// A computation is done, unless its end has been moved since: then `attempt` is out of date.
struct ComputationDue {
  WorkerId worker;
  std::uint64_t attempt = 0;
};

// What added latency has held back goes out now.
struct DelayedSend {
  std::variant<SendGradient, AllReduce> action;
};

using Occurrence = std::variant<WorldChange, ComputationDue, DelayedSend, Event>;

}  // namespace paceline

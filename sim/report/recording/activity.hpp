// What a worker does with its time.
//
// Models:      at each instant of a job a worker is in exactly one activity; so its durations sum to the
//              makespan.
// Units:       seconds.
// Assumptions: of activities that overlap (shards on their way to several servers) the one that ends last
//              counts: it is what the worker really waited for.
// Not modelled: overlap itself; a server's or a link's time (bottlenecks.csv has those).
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "sim/base/id.hpp"
#include "sim/base/quantity.hpp"

namespace paceline {

enum class Activity : std::uint8_t {
  compute,       // forward and backward, and optimizer steps on the worker itself
  transfer,      // gradients, parameters or an all-reduce on the network
  server,        // its gradient is being applied, the server's queue included
  coordination,  // the serial part of a synchronous step
  checkpoint,
  switching,
  start_up,
  evaluation,
  adjustment,  // of the batches
  away,        // not part of the cluster
  wait,        // everything else: for other workers, or nothing was handed out
};
inline constexpr std::array<std::string_view, 11> activity_names = {
    "compute",  "transfer",   "server",     "coordination", "checkpoint", "switch",
    "start_up", "evaluation", "adjustment", "away",         "wait"};
inline constexpr std::size_t activity_count = activity_names.size();

[[nodiscard]] constexpr std::string_view to_string(Activity activity) {
  return activity_names[static_cast<std::size_t>(activity)];
}

using ActivityTimes = std::array<Seconds, activity_count>;  // by Activity

struct ActivitySpan {
  WorkerId worker;
  Activity activity = Activity::wait;
  Seconds begin;
  Seconds end;
  std::string task = {};  // compute, push, pull, all-reduce, step, coordinate, pause or away; empty: it waits
  std::optional<std::uint64_t> number = {};  // of the gradient; of the update of all-reduce, step, coordinate
  std::optional<std::uint64_t> server = {};
  std::optional<std::int64_t> batch_samples = {};  // of the gradient
  std::optional<std::uint64_t> staleness = {};     // of the gradient; absent: it was not applied
};

}  // namespace paceline

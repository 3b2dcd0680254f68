// How time passes and bytes travel: what differs between one executor and another.
//
// Models:      a clock that jumps from event to event, and a network between workers and servers.
// Equation:    given by each implementation (ideal_timeline.hpp, simgrid_timeline.hpp).
// Units:       seconds since the start of the job; bytes.
// Assumptions: what happens at one time is delivered together; what a delivery schedules for "now" is delivered next,
//              at the same time.
// Source:      design section 3 (one coordinator, several executors).
#pragma once

#include <functional>
#include <span>
#include <variant>
#include <vector>

#include "sim/base/id.hpp"
#include "sim/base/quantity.hpp"
#include "sim/engine/occurrence.hpp"

namespace paceline {

using Endpoint = std::variant<WorkerId, ServerId>;

class Timeline {
 public:
  // Receives everything that happens at one time; returns false when the job is over.
  using Deliver = std::function<bool(Seconds now, const std::vector<Occurrence>& occurrences)>;

  Timeline() = default;
  Timeline(const Timeline&) = delete;
  Timeline& operator=(const Timeline&) = delete;
  virtual ~Timeline() = default;

  [[nodiscard]] virtual Seconds now() const = 0;
  // It happens at `date`, not before now.
  virtual void at(Seconds date, Occurrence occurrence) = 0;
  // `size` bytes travel; `arrival` happens when the last byte is there.
  virtual void send(Endpoint from, Endpoint to, Bytes size, Occurrence arrival) = 0;
  // Ring all-reduce of `size` bytes among the members, in worker order, all of them ready now: each of 2(n-1) rounds
  // moves one chunk of ceil(size / n) bytes from every member to the next.
  virtual void ring_all_reduce(std::span<const WorkerId> members, Bytes size, Occurrence finish) = 0;
  // From now on a worker's own link has `factor` times its bandwidth; what is in flight follows.
  virtual void set_bandwidth_factor(WorkerId worker, double factor) = 0;
  // Runs until `deliver` returns false. Returns false when instead nothing is left to happen.
  [[nodiscard]] virtual bool run(const Deliver& deliver) = 0;
};

// The chunk a member passes on in one round of a ring all-reduce.
[[nodiscard]] Bytes ring_chunk(Bytes size, std::size_t members);

}  // namespace paceline

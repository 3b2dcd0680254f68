// How time passes and bytes travel: what differs between one executor and another.
//
// Models:      a clock that jumps from event to event, and a network between workers and servers.
// Equation:    given by each implementation (ideal_timeline.hpp, simgrid_timeline.hpp).
// Units:       seconds since the start of the job; bytes.
// Assumptions: what happens at one time is delivered together; what a delivery schedules for "now" is
//              delivered next, at the same time. A message has whole bytes, rounded up. Between a worker and
//              a server on one machine it costs nothing.
#pragma once

#include <cstdint>
#include <functional>
#include <span>
#include <type_traits>
#include <variant>
#include <vector>

#include "sim/base/id.hpp"
#include "sim/base/quantity.hpp"
#include "sim/engine/collective.hpp"
#include "sim/engine/link_meter.hpp"
#include "sim/training/action.hpp"
#include "sim/training/event.hpp"

namespace paceline {

// What a timeline brings back: an event of the job, or a note the executor wrote to itself.
struct ConditionsChange {};  // speeds, links or members change now
struct ComputationDue {      // it is done, unless its end has been moved since: then `attempt` is out of date
  WorkerId worker;
  std::uint64_t attempt = 0;
};
struct DelayedSend {  // what added latency has held back goes out, unless it was called off
  std::uint64_t number = 0;
};
struct BucketSummed {  // an all-reduce of a part of the gradients, unless it was called off
  std::uint64_t number = 0;
  friend bool operator==(const BucketSummed&, const BucketSummed&) = default;
};
struct MachineDue {  // something on a shared machine has ended, unless it has moved since: as above
  std::size_t machine = 0;
  std::uint64_t attempt = 0;
};
using Occurrence =
    std::variant<ConditionsChange, ComputationDue, DelayedSend, BucketSummed, MachineDue, Event>;
static_assert(std::is_trivially_copyable_v<Occurrence>);

[[nodiscard]] inline bool is_of(const BucketSummed& sum, const Occurrence& finish) {
  const auto* bucket = std::get_if<BucketSummed>(&finish);
  return bucket != nullptr && *bucket == sum;
}

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
  // All-reduce of `size` bytes among the members, in worker order, all of them ready now; what each algorithm
  // does is in collective.hpp, the order in which members pass data on in sim/cluster/routes.hpp. Until
  // `undisturbed_until` the caller will send nothing else and change no bandwidth, unless the collective is
  // over before; a time that is known from before is used again only up to there. `now()`: no such promise.
  virtual void all_reduce(Transport algorithm, std::span<const WorkerId> members, Bytes size,
                          Seconds undisturbed_until, Occurrence finish) = 0;
  // The all-reduce that was to finish with it begins no more messages; those under way arrive. False: it is
  // over, and what finishes it is still delivered.
  [[nodiscard]] virtual bool call_off(const BucketSummed& sum) = 0;
  // From now on the worker's own links have this share of their bandwidth; messages under way follow. A link
  // between two workers' nodes has the smaller share of both.
  virtual void set_bandwidth_factor(WorkerId worker, double factor) = 0;
  // Each direction of each link so far.
  [[nodiscard]] virtual std::vector<LinkUse> link_use() const = 0;
  // Runs until `deliver` returns false. Returns false when instead nothing is left to happen.
  [[nodiscard]] virtual bool run(const Deliver& deliver) = 0;
};

}  // namespace paceline

// Computing under a limit on processor time in each period, as Linux' CFS bandwidth control sets it for
// containers.
//
// Models:      a worker with c busy cores and a quota of q cores stands still in each period once its
//              processor time is used up. A quota is not a core: short work runs at full speed, long work in
//              bursts.
// Equation:    periods of length P begin at phase + k·P. In each the worker computes at full speed for at
//              most r = min(P, P·q/c) of wall-clock time. Work of W seconds that finds r' of the present
//              period's allowance left (and the period lasting that long), W > r', ends n full periods after
//              the present one, W − r' − n·r into the next, n = ceil((W − r')/r) − 1.
//              Who has stood still computes for `resume` u of the new period's allowance again before it gets
//              on: its data have left the caches. Each period entered so has r − u for the work.
//              Computing without a break the worker is slowed down by P/(r − u), or not at all where r = P.
// Units:       seconds of wall-clock time at full speed on all c cores.
// Assumptions: computing and handling messages keep all c cores busy, waiting uses none. What is not used is
//              lost at the end of the period (no burst). The phase is the worker's for a whole run. u is the
//              same however long the worker has stood still, and u < r.
// Not modelled: the slices in which the kernel hands out the quota (about 5 ms: an allowance may be overrun
//              by that much on each core), the optimizer step of a worker and the work of a server.
// Measured:    small-gpt on one core under a cgroup of half a core in each 100 ms: iterations of 43.8 and
//              255.9 ms took 89.8 and 509.9 ms on average (this equation: 87.5 and 511.8); of the shorter,
//              half 94.2 ms (93.8) and the fastest tenth 46.3 ms (43.8).
//              ResNet-20 (104 ms) under 0.2 to 0.8 of a core: u between 2 and 7 ms (docs/validation.md).
// Source:      Linux, Documentation/scheduler/sched-bwc.rst.
#pragma once

#include <cstdint>

#include "sim/base/quantity.hpp"
#include "sim/cluster/cluster.hpp"

namespace paceline {

// r: wall-clock time in each period in which so many cores can be kept busy.
[[nodiscard]] Seconds allowance_of(const CpuQuota& quota, int cores);
// How much longer steady computing takes.
[[nodiscard]] double steady_slowdown(const CpuQuota& quota, int cores);

class QuotaClock {
 public:
  QuotaClock(const CpuQuota& quota, int cores, Seconds phase);

  // When `work` that begins at `start` is done.
  [[nodiscard]] Seconds end_of(Seconds start, Seconds work) const;
  // The work done from `start` to `now` by computing all the time.
  [[nodiscard]] Seconds work_between(Seconds start, Seconds now) const;
  // The same, and its processor time is gone. Starts never go back.
  Seconds use(Seconds start, Seconds now);

  // Piece by piece, for one that gets only a share of its cores' time: what is left of the present period's
  // allowance, when that period ends, and processor time of each core spent in it.
  struct Stretch {
    Seconds left;
    Seconds ends;
  };
  [[nodiscard]] Stretch stretch(Seconds date) const;
  void spend(Seconds date, Seconds processor_time);
  // What a process that has stood still computes again.
  [[nodiscard]] Seconds resume() const { return resume_; }

 private:
  // The period of a date that may be the computed end of the one before.
  [[nodiscard]] std::int64_t period_from(Seconds date) const;
  [[nodiscard]] std::int64_t period_of(Seconds date) const;
  [[nodiscard]] Seconds begin_of(std::int64_t period) const;
  // What can be computed from `start` to the end of its period.
  [[nodiscard]] Seconds left_in_period(Seconds start) const;
  // Whether computing from `start` on stands still at the end of its period, and not only goes over into the
  // next.
  [[nodiscard]] bool is_held_up(Seconds start) const;
  [[nodiscard]] Seconds owed(Seconds start) const;

  Seconds period_;
  Seconds allowance_;
  Seconds resume_;  // 0 where nothing is ever held up
  Seconds phase_;
  std::int64_t used_in_ = 0;  // the period that `used_` belongs to
  Seconds used_;
  Seconds owed_;  // of `resume_`, where the last use ended within it
};

}  // namespace paceline

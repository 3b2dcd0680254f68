// What iterations of a worker take within a job that it has for itself: measured just before a prediction, so
// that it knows the state the machine is in, and what rests and messages between iterations cost them.
//
// Models:      a live ASP job of this worker alone, at its own speed and quota, in several short passes.
// Equation:    t(b) = median over the passes of the mean iteration, stalls left out, after the first ones;
//              half width: t(0.975, P − 1) · sd / √P of P passes. As of a machine at full speed, which is
//              what a profile holds: c(b) = t(b) / h(b) − fetching(b), h(b) = mean iteration at the worker's
//              speed and quota over that at speed 1 without a quota, both as modelled.
// Units:       seconds of wall-clock time, samples.
// Assumptions: what slows an iteration slows the computation and the rest after it alike.
// Not modelled: other workers (sharing_timing.hpp).
// Source:      calibrate/logs/correction.hpp for what is made of it.
#pragma once

#include <cstdint>
#include <functional>
#include <vector>

#include "calibrate/live/live_run.hpp"
#include "calibrate/logs/own_steps.hpp"

namespace paceline::live {

struct AloneTime {
  calibrate::OwnBatchTime computing;  // at full speed
  Seconds measured;                   // at the worker's own
  Seconds modelled;
};

// Of a scenario that passed check_live, by batch as given. Throws what run_live throws.
[[nodiscard]] std::vector<AloneTime> time_alone(
    const Scenario& scenario, const Profiles& profiles, WorkerId worker,
    const std::vector<std::int64_t>& batches, const LiveOptions& options,
    const std::function<void(double share_done)>& progress = [](double) {});

// From the means of the passes.
[[nodiscard]] AloneTime alone_time(const Scenario& scenario, const Profiles& profiles, WorkerId worker,
                                   std::int64_t batch_samples, const std::vector<double>& means,
                                   std::size_t iterations);

// The batches at which a job's iterations are timed: the initial one, and where a controller may change it,
// also half and twice of it, as far as it may.
[[nodiscard]] std::vector<std::int64_t> batches_to_time(const BatchingConfig& batching);

}  // namespace paceline::live

// What iterations take within a job, of a worker that has it for itself and of all workers together: measured
// just before a prediction, so that it knows the state the machine is in, and what rests, messages and others
// that displace their data from caches cost them.
//
// Models:      a live ASP job of these workers, at their own speeds and quotas, in several short passes; all
//              of them also in a BSP job, where those of the scenario wait for others.
// Equation:    t(b) = median over the passes of the mean iteration after the first ones, stalls left out but
//              where a quota makes them; half width: t(0.975, P − 1) · sd / √P of P passes. As of a machine
//              at full speed, which is what a profile holds: c(b) = t(b) / h(b) − fetching(b), h(b) = mean
//              iteration at the worker's speed and quota over that at speed 1 without a quota, both as
//              modelled. Together: the mean of each worker alike; c(b) is multiplied by it over its
//              prediction from c(b) and the rest of the gate, both for the same job: first the ASP job, and
//              then the BSP job where workers wait for others in every phase. Where a controller may change
//              batches, the BSP job has those that it is predicted to end with instead of the initial ones,
//              both jobs are timed with the smallest one that was timed alone, too, and what c(b) is
//              multiplied by lies on a line over log b between that and the larger one. What lies between two
//              iterations of the ASP job: the mean time from the end of one to that of the next, less the
//              mean iteration; what it exceeds its prediction by is what two messages of that worker wait
//              for a processor (message_wait.hpp). Times of a pass are divided by how much slower than usual
//              the machine was during it. How iterations vary beside the others, under ASP:
//              calibrate/logs/step_variation.hpp.
// Units:       seconds of wall-clock time, samples.
// Assumptions: what slows an iteration slows the computation and the rest after it alike.
//              What others cost an iteration beyond its turns of the processor is a share of its time, the
//              same under SSP and in rings as under BSP; what they cost a message is a time. Batches that
//              differ from the start (`controller: static`) are timed as if all had the initial one.
// Not modelled: how that depends on who else is busy.
// Source:      calibrate/logs/correction.hpp for what is made of it.
#pragma once

#include <cstdint>
#include <functional>
#include <span>
#include <vector>

#include "calibrate/live/live_run.hpp"
#include "calibrate/live/message_wait.hpp"
#include "calibrate/logs/own_steps.hpp"
#include "calibrate/logs/step_variation.hpp"
#include "sim/policy/synchronization/synchronization.hpp"

namespace paceline::live {

struct AloneTime {
  calibrate::OwnBatchTime computing;  // at full speed
  Seconds measured;                   // at the worker's own
  Seconds modelled;
};

// Of a scenario that passed check_live, by batch as given. Throws what run_live throws, and
// std::runtime_error when a worker is lost, as time_together does.
[[nodiscard]] std::vector<AloneTime> time_alone(
    const Scenario& scenario, const Profiles& profiles, WorkerId worker,
    const std::vector<std::int64_t>& batches, const LiveOptions& options,
    const std::function<void(double share_done)>& progress = [](double) {});

inline constexpr Seconds duration_of_look{0.5};
// Whether the machine is still as it was: the geometric mean of what iterations of the workers take, all
// together, for so long. Workers that compute at once need more of caches that others use, too.
[[nodiscard]] Seconds time_look(const Scenario& scenario, const Profiles& profiles,
                                const LiveOptions& options);

// One short pass of the first of these workers, beside the others: means without stalls.
[[nodiscard]] CycleTime time_cycle(const Scenario& scenario, const Profiles& profiles,
                                   const std::vector<WorkerId>& workers, std::int64_t batch_samples,
                                   const LiveOptions& options);

// An ASP job of these workers and nothing but iterations, so many of each one.
[[nodiscard]] Scenario asynchronous_job(const Scenario& scenario, const std::vector<WorkerId>& workers,
                                        std::int64_t batch_samples, std::int64_t iterations);
// That of all workers, with these batches, for about a second of the slowest one's iterations; or, where they
// wait for all, a BSP job. The batches' sum is a multiple of how many workers there are.
[[nodiscard]] Scenario together_job(const Scenario& scenario, const Profiles& profiles, WaitsFor waits_for,
                                    std::span<const std::int64_t> batches);
// The initial batch for each worker.
[[nodiscard]] std::vector<std::int64_t> initial_batches(const Scenario& scenario);
// Which of the two is more like the scenario.
[[nodiscard]] WaitsFor waits_for(const Scenario& scenario);
struct TogetherPass {
  std::vector<std::vector<calibrate::TimedStep>> iterations;  // by worker: those that were finished
  double slowness = 1.0;                                      // of the machine meanwhile; 1: as usual
};
// Of that job for real, a few passes. `round` counts the calls, from 0: each trains from seeds of its own.
[[nodiscard]] std::vector<TogetherPass> time_together(const Scenario& job, const Profiles& profiles,
                                                      int round, const LiveOptions& options);

struct TogetherTimes {
  std::vector<CycleTime> cycles;  // by worker: medians of the passes; of iterations without stalls
  calibrate::StepVariation variation;
  calibrate::Residuals between_workers;  // of the logarithms of the passes' iterations
  Seconds pass;                          // how long one took, whatever the slowness
};
// Of a machine as fast as usual.
[[nodiscard]] TogetherTimes together_times(const std::vector<TogetherPass>& passes);
// Of each worker, those of its iterations that were finished.
[[nodiscard]] std::vector<std::vector<calibrate::TimedStep>> finished_iterations(
    const std::vector<IterationRecord>& iterations, std::size_t workers);
[[nodiscard]] std::vector<CycleTime> mean_cycles(
    const std::vector<std::vector<calibrate::TimedStep>>& iterations);
// From the means of the passes.
[[nodiscard]] AloneTime alone_time(const Scenario& scenario, const Profiles& profiles, WorkerId worker,
                                   std::int64_t batch_samples, const std::vector<double>& means,
                                   std::size_t iterations);

// The batches at which a job's iterations are timed: the initial one, and where a controller may change it,
// also a quarter, half and twice of it, as far as it may.
[[nodiscard]] std::vector<std::int64_t> batches_to_time(const BatchingConfig& batching);

}  // namespace paceline::live

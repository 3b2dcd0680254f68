// What a simulation, or a replay, needs to know about time, from recorded runs: an iteration of one worker,
// the serial part of a synchronous step, checkpoints, how much runs differ.
//
// Models:      a cluster of equal workers under one coordinator, as in step_model.hpp, plus the wait for the
//              slowest.
// Equation:    iteration P = workers · seconds per asynchronous mini-batch of the cluster, between pauses;
//              synchronous step of N workers = P · m(N) + N · serial, m(N) = E[max of N log-normal factors
//              of mean 1], so serial = (T(N) - P · m(N)) / N, at least 0: median over runs; checkpoint:
//              the median recorded pause of synchronous phases, every (samples done / number of pauses).
//              Without asynchronous phases serial = 0 and P = T(N) / m(N); without synchronous ones serial
//              is unknown. run variation: sd / mean of the step times of runs of one kind and worker
//              count, pooled. Pauses add pause · samples of a step / every to a synchronous step, and
//              their 1/W to an asynchronous mini-batch, since the chief alone stands still.
// Units:       seconds, samples.
// Assumptions: transfers are part of the recorded iteration; iterations vary by 10 % (replay.hpp takes the
//              same); undelayed workers. Under ASP a checkpoint pauses the chief alone, so the pauses seen
//              there are not used.
// Not modelled: start-up and ramp-up inside a logged phase (13-20 s a run).
// Source:      calibrate/logs/recorded_times.hpp, calibrate/logs/step_model.hpp.
#pragma once

#include <optional>
#include <span>
#include <string>
#include <vector>

#include "calibrate/learning/prediction.hpp"
#include "calibrate/learning/replay.hpp"

namespace paceline {

struct Checkpoints {
  double every_samples = 0.0;
  double pause_s = 0.0;
};

struct RecordedCosts {
  double iteration_s = 0.0;
  std::optional<double> serial_per_worker_s;  // absent: no synchronous phase was recorded
  std::optional<Checkpoints> checkpoints;
  double iteration_cv = 0.0;
  double run_cv = 0.0;
};

// From groups without delayed workers; nothing when no phase of theirs was timed.
[[nodiscard]] std::optional<RecordedCosts> recorded_costs(std::span<const RunGroup* const> groups);
// Seconds per step, pauses included, of so many workers with these costs: what a simulation of them takes on
// average. A synchronous step is unknown where the serial part is.
[[nodiscard]] ClockRates rates_of(const RecordedCosts& costs, std::uint32_t workers, double batch_samples);
// Seconds per step, pauses included, of jobs with so many workers: the median over the phases of undelayed
// groups, each counting by its mini-batches. Steps of other worker counts are scaled: a synchronous one takes
// longer in proportion (a serial coordinator), an asynchronous one shorter. If an asynchronous phase follows
// a synchronous one (its first steps are slow), what these leave of the times of such runs is added, at the
// median over those of as many workers.
[[nodiscard]] ClockRates typical_rates(std::span<const RunGroup* const> groups, std::uint32_t workers);
// From those among them that have none.
[[nodiscard]] std::optional<RecordedCosts> undelayed_costs(std::vector<const RunGroup*> groups);

// The groups with their traces, the chief pausing as those of `measured` tell.
[[nodiscard]] std::vector<TracedGroup> trace_groups(std::vector<RunGroup> groups,
                                                    std::span<const RunGroup> measured);

// Writes into the plans of `groups` how the chief of asynchronous workers stands still for the checkpoints
// that the undelayed of `measured` tell: every (every_samples / batch) mini-batches, for pause_s /
// iteration_s iterations.
void set_chief_pauses(std::vector<RunGroup>& groups, std::span<const RunGroup> measured);

// The expected largest of n log-normal factors of mean 1 with this coefficient of variation.
[[nodiscard]] double expected_largest(std::uint32_t n, double cv);

// Seconds a delayed worker's iteration takes longer, from an asynchronous group with one such worker beside
// an undelayed one of the same setup: 1 / rate = (W - 1) / P + 1 / (P + delay). One of the same added latency
// comes first; from another, where both are known, the delay is in proportion to it.
[[nodiscard]] std::optional<double> recorded_delay_s(std::span<const RunGroup* const> groups,
                                                     std::optional<double> added_latency_s);

}  // namespace paceline

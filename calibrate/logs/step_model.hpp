// What a synchronous step is made of, from recorded step times.
//
// Models:      under ASP every worker iterates on its own: the parallel part. Under BSP a step is one such
//              iteration and what the coordinator does one after another for the workers: the serial part.
// Equation:    parallel P = workers · seconds per step of the cluster under ASP; T_BSP(N) = P + f + s·N;
//              T_ASP(N) = P / N for one mini-batch of the cluster: workers do not hold each other up; one
//              worker count N₀ recorded: f = 0, s = (T_BSP(N₀) − P)/N₀; several: f, s ≥ 0 by relative least
//              squares. Runs of one protocol and worker count: the median of their step times between pauses.
//              Null models from N₀ to N: the same step; a ring all-reduce limited by bandwidth, P +
//              (T_BSP(N₀) − P) · ((N−1)/N) / ((N₀−1)/N₀).
// Units:       seconds; steps (BSP: one mini-batch of every worker; ASP: one mini-batch).
// Assumptions: the batch of one worker is the same everywhere; the serial part is paid for each worker
//              (recorded BSP steps are affine in the global batch over a factor of 16).
// Not modelled: stragglers; contention of ASP pushes at the server, which counts as parallel.
// Source:      recorded runs of Sync-Switch, ICDCS 2021.
#pragma once

#include <vector>

#include "calibrate/logs/recorded_times.hpp"

namespace paceline::calibrate {

struct RecordedRuns {
  int workers = 1;
  std::vector<StepTimes> runs;

  [[nodiscard]] double step_s() const;   // median over runs, between pauses
  [[nodiscard]] double pause_s() const;  // median over all pauses, 0 without any
  // Median over the runs of the steps from one pause to the next; 0 without any.
  [[nodiscard]] double steps_between_pauses() const;
};

struct StepModel {
  double parallel_s = 0.0;
  double serial_fixed_s = 0.0;
  double serial_per_worker_s = 0.0;

  [[nodiscard]] double bsp_step_s(int workers) const {
    return parallel_s + serial_fixed_s + serial_per_worker_s * workers;
  }
  [[nodiscard]] double asp_step_s(int workers) const { return parallel_s / workers; }
};

// BSP of at least one worker count. Throws UserError when a BSP step is shorter than an ASP iteration: then
// there is no serial part to find.
[[nodiscard]] StepModel fit_step_model(const RecordedRuns& asp, const std::vector<RecordedRuns>& bsp);

[[nodiscard]] double ring_null_step_s(const StepModel& model, const RecordedRuns& bsp, int workers);

}  // namespace paceline::calibrate

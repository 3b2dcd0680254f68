// Which batches and core counts to measure within a time and a memory.
//
// Models:      a probe, one process that runs two small batches on the fewest cores, tells what an iteration
//              and a process cost; the plan is the largest that fits.
// Equation:    T(b) and memory(b) are the lines through the probe's two points, T not above its own at more
//              cores;
//              a pass costs Σ_cores (start + Σ_b max(1.2 · seconds per point, (iterations + warm-up) ·
//              T(b)));
//              the planned passes must cost at most the budget. In this order until they do: fewer iterations
//              and less time for each point, then without the largest batches, down to three, then without
//              middle core counts, down to two. Batches start at 4; where fewer than 6 are left, 2 and 1 are
//              added.
//              A batch whose predicted memory is above the limit is left out, or refused where the user asked
//              for it.
// Units:       seconds, samples, bytes.
// Assumptions: both are affine; a first estimate: what is measured replaces it.
// Not modelled: time lost to other programs.
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "calibrate/measure/sample.hpp"
#include "sim/base/quantity.hpp"
#include "sim/cost/profile.hpp"

namespace paceline::calibrate {

struct ProbePoint {
  std::int64_t batch = 1;
  double iteration_s = 0.0;
  double peak_memory_bytes = 0.0;
};

struct Probe {
  ProbePoint small;
  ProbePoint large;
  double start_s = 0.0;  // of a process, until it measures

  [[nodiscard]] double iteration_s(std::int64_t batch) const;
  [[nodiscard]] Bytes memory(std::int64_t batch) const;
};

struct Limits {
  double budget_s = 300.0;
  Bytes memory;
};

// The seconds that one pass over the plan's points takes, by the probe.
[[nodiscard]] double pass_seconds(const MeasurementPlan& plan, const Probe& probe);

// `wanted` has cores, processes, seconds_per_point and minimum_iterations; batches where the user gave them
// (nothing is left out of these). Throws UserError when the first three batches, or a batch the user gave, do
// not fit into memory.
[[nodiscard]] MeasurementPlan fitting_plan(const MeasurementPlan& wanted, const Probe& probe,
                                           const Limits& limits);

}  // namespace paceline::calibrate

// Which batches and core counts to measure: within a time and a memory, and to see whether a profile holds.
//
// Models:      a probe, one process that runs two small batches on the fewest cores, tells what an iteration
//              and a process cost; the plan is the largest that fits. A check measures points that the fits
//              have never seen: batches, and core counts, between the measured ones.
// Equation:    T(b) and memory(b) are the lines through the probe's two points, T not above its own at more
//              cores; a pass costs Σ_cores (start + Σ_b max(1.2 · seconds per point, (iterations + warm-up) ·
//              T(b))); the planned passes must cost at most the budget. In this order until they do: fewer
//              iterations and less time for each point, then without the largest batches, down to three, then
//              without middle core counts, down to two. Batches start at 4; where fewer than 6 are left, 2
//              and 1 are added. A batch whose predicted memory is above the limit is left out, or refused
//              where the user asked for it. held out: the geometric mean of two neighbours, rounded, where
//              that is neither; at most 4 batches, spread evenly, and one core count, where leaving counts
//              out judged the law of cores.
// Units:       seconds, samples, bytes.
// Assumptions: both are affine; a first estimate: what is measured replaces it.
// Not modelled: time lost to other programs.
#pragma once

#include <cstdint>
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
  double start_s = 0.0;           // of a process, until it measures
  double bytes_per_sample = 0.0;  // at least: those of its input; a small batch may hide in what start took

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

[[nodiscard]] std::vector<std::int64_t> held_out_batches(const std::vector<std::int64_t>& measured);
// The measured counts that this machine has, and one between them where the profile knows the law's error.
[[nodiscard]] std::vector<int> held_out_cores(const Profile& profile, int machine_cores);

}  // namespace paceline::calibrate

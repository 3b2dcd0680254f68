// From raw durations to the numbers of a profile.
//
// Models:      iteration time affine in the batch, one line for each core count; constant optimizer step; server
//              rates.
// Equation:    t_b = median over processes of the mean over those iterations that take at most 3 times the process's
//              median: the simulator needs the mean, slow iterations included, but neither a process that was
//              disturbed nor single stalls, which are taken for other programs' doing;
//              (a, s) minimize Σ_b ((a + s·b − t_b) / t_b)²      relative residuals: small batches count as large ones
//              subject to a ≥ 0, s ≥ 0: a negative intercept is refitted through the origin, a negative slope as a
//              constant.
//              leave-one-out error = mean over b of |line fitted without b, at b, − t_b| / t_b, the smallest and the
//              largest batch (extrapolated) included.
//              server rate = parameter bytes / median seconds at the smallest measured core count.
// Units:       seconds, samples, bytes per second.
// Assumptions: most processes were undisturbed.
// Not modelled: the knee for large batches (it shows as leave-one-out error); a law across core counts.
// Source:      design section 5; hyperfine's practice for medians over interleaved runs.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "calibrate/sample.hpp"
#include "sim/base/quantity.hpp"
#include "sim/cost/profile.hpp"

namespace paceline::calibrate {

struct BatchTime {
  std::int64_t batch_samples = 1;
  double seconds = 0.0;
};

struct AffineLine {
  double intercept_s = 0.0;
  double slope_s_per_sample = 0.0;
};

// At least 2 different batches, positive times.
[[nodiscard]] AffineLine fit_line(std::span<const BatchTime> points);
// At least 3 different batches.
[[nodiscard]] double leave_one_out_error(std::span<const BatchTime> points);

[[nodiscard]] double median(std::vector<double> values);  // not empty

struct ProfileFits {
  std::vector<ComputeFit> compute;  // by ascending cores
  BytesPerSecond server_accumulate_rate;
  BytesPerSecond server_step_rate;
  JitterFit jitter;
};

// Needs forward_backward of at least 3 batches and optimizer_step for every core count, and both server operations.
[[nodiscard]] ProfileFits fit_profile(const std::vector<Sample>& samples, Bytes parameter_bytes);

}  // namespace paceline::calibrate

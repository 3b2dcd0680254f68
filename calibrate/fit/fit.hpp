// From raw durations to the numbers of a profile.
//
// Models:      iteration time as a law of the batch for each core count and a law of the cores (laws.hpp);
//              constant optimizer step; server rates; memory; an ensemble of equally likely fits.
// Equation:    y[p,b] = log of the mean over those iterations of process p that take at most 3 times its
//              median: the simulator needs the mean, slow iterations included, but not stalls, which are
//              taken for other programs' doing; log t_b = Tukey's estimate over processes of y[p,b], its
//              scale pooled over batches (statistics.hpp); the laws are fitted to t_b. server rate =
//              parameter bytes / median seconds at the smallest measured core count; memory = m0 + m1·b by
//              relative least squares, both ≥ 0, over the largest peak at each batch; loading(b) = c + d·b
//              likewise, over the medians on the fewest cores (one thread loads); ensemble: the same fits to
//              P − 1 processes drawn with replacement from P (the same ones for every core count), which
//              gives the variance of the mean without the usual factor (P − 1)/P. relative half-width = half
//              of the central 95 % of the ensemble's T(b) over T(b), the widest.
// Units:       seconds, samples, bytes, bytes per second.
// Assumptions: most processes were undisturbed; processes are alike and independent.
// Not modelled: that the law itself may be wrong (that is the leave-one-out error).
// Source:      Rao and Wu 1988 for the bootstrap of n − 1; hyperfine for interleaved runs.
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "calibrate/fit/laws.hpp"
#include "calibrate/measure/sample.hpp"
#include "sim/base/quantity.hpp"
#include "sim/cost/profile.hpp"

namespace paceline::calibrate {

inline constexpr int ensemble_size = 100;

// Robust mean seconds of forward_backward at each batch of one core count, by ascending batch.
[[nodiscard]] std::vector<BatchTime> batch_times(const std::vector<Sample>& samples, int cores);

// From the samples that say their peak memory; nothing below 2 different batches.
[[nodiscard]] std::optional<MemoryFit> fit_memory(const std::vector<Sample>& samples);

// From the load_batch samples; nothing where there are none.
[[nodiscard]] std::optional<LoadingFit> fit_loading(const std::vector<Sample>& samples);

struct ProfileFits {
  std::vector<ComputeFit> compute;      // by ascending cores
  std::vector<BatchLawChoice> choices;  // of each of these
  BytesPerSecond server_accumulate_rate;
  BytesPerSecond server_step_rate;
  JitterFit jitter;
  std::optional<CoreScalingFit> core_scaling = std::nullopt;
  std::optional<MemoryFit> memory = std::nullopt;
  std::vector<ProfileDraw> ensemble = {};            // empty below 3 processes
  std::optional<LoadingFit> loading = std::nullopt;  // its `data` is for the caller to name
};

// Samples set aside tell of memory only. Needs forward_backward of at least 3 batches and optimizer_step for
// every core count, and both server operations.
[[nodiscard]] ProfileFits fit_profile(const std::vector<Sample>& samples, Bytes parameter_bytes);

}  // namespace paceline::calibrate

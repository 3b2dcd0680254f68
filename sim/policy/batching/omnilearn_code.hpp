// The proportional controller of OmniLearn's published code, one adjustment of it.
//
// Models:      batches from mean iteration times, step by step as the code computes them.
// Equation:    c_k = b_k - (b_k / t_k)·(t_k - t̄);   |c_k - b_k| / c_k < dead_band: c_k = b_k
//              b_k = ceil(clamp(c_k))
//              with a global batch B to repair (BSP):  G = Σ b_k;  b_k = ceil(b_k - (G - B) / K)
//              (the code adds Σ_j ceil((c_j - clamp(c_j)) / K) to each b_k before that, which cancels)
// Units:       samples, seconds.
// Assumptions: t_k plain means over the epoch. The dead-band is each worker's own, relative to the new value,
//              and comes before the clamp. Nothing clamps after the repair, so a batch may end below the
//              minimum; where the code would go on with an impossible batch below one sample, or one that
//              memory does not hold, one sample or what memory holds is taken, and the limit is reported.
// Not modelled: the defects that stop that code.
// Source:      sahiltyagi4/OmniLearn, commit 7db5cb0.
#pragma once

#include <optional>
#include <span>

#include "sim/policy/batching/batch_controller.hpp"

namespace paceline {

struct OmniLearnCodeRule {
  double dead_band = 0.2;
  std::int64_t minimum_samples = 16;
  std::int64_t maximum_samples = 96;
  std::optional<std::int64_t> global_batch;  // to repair towards; absent: the total is free (ASP)
};

// One entry for each worker that takes part.
[[nodiscard]] Allocation omnilearn_code_batches(const OmniLearnCodeRule& rule,
                                                std::span<const std::int64_t> batches,
                                                std::span<const double> times_s);

}  // namespace paceline

// Whole batches that take every worker the same time, within bounds.
//
// Models:      a total number of samples divided so that all workers whom no bound holds need the same time.
// Equation:    x_k = clamp(b_k(T), lowest_k, highest_k), b_k(T) the batch that takes worker k the time T by
//              its law (observed_curve.hpp), T such that Σ x_k = total (a total that the bounds cannot hold
//              becomes the nearest one they can); whole numbers by largest remainders. Where every t_k ∝ b_k
//              that is `apportion` by throughputs.
// Units:       samples, seconds.
// Assumptions: the laws rise.
#pragma once

#include "sim/policy/batching/apportion.hpp"
#include "sim/policy/batching/observed_curve.hpp"

namespace paceline {

[[nodiscard]] Allocation equal_times(std::int64_t total, std::span<const TimeNearBatch> workers,
                                     std::span<const BatchBounds> bounds);

}  // namespace paceline

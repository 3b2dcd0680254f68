// Whole batches from shares, within bounds.
//
// Models:      a total number of samples divided in proportion to shares as far as each worker's bounds
//              allow.
// Equation:    x_k = clamp(λ·w_k, lowest_k, highest_k) with λ such that Σ x_k = total (water-filling; a total
//              that the bounds cannot hold becomes the nearest one they can); then largest remainders: whole
//              numbers that sum to the total, each within one sample of x_k and within its bounds. Ties go to
//              the lower index.
// Units:       samples; shares in any common unit.
// Assumptions: shares are positive, 0 ≤ lowest_k ≤ highest_k.
#pragma once

#include <algorithm>
#include <cstdint>
#include <span>
#include <vector>

#include "sim/policy/batching/batch_controller.hpp"

namespace paceline {

struct BatchBounds {
  std::int64_t lowest = 1;
  std::int64_t highest = 1;
  BatchLimit highest_is = BatchLimit::maximum;  // what sets it

  [[nodiscard]] double clamp(double samples) const {
    return std::clamp(samples, static_cast<double>(lowest), static_cast<double>(highest));
  }
};

// The scenario's bounds and each worker's memory; what memory does not hold is out of the question, so that
// it may lie below the scenario's minimum.
[[nodiscard]] std::vector<BatchBounds> bounds_of(const BatchingConfig& config,
                                                 std::span<const WorkerPrior> workers);

// The whole number next to `wanted` within the bounds, and what kept it from being that.
[[nodiscard]] WorkerBatch within(double wanted_samples, const BatchBounds& bounds);

[[nodiscard]] Allocation apportion(std::int64_t total, std::span<const double> shares,
                                   std::span<const BatchBounds> bounds);

// Its parts, for other rules than shares.
//
// The nearest total that the bounds hold.
[[nodiscard]] std::int64_t held_by(std::span<const BatchBounds> bounds, std::int64_t total);
// Whole numbers that sum to `held`, as `exact` does, by largest remainders; `wanted`: what the rule wanted
// without bounds.
[[nodiscard]] Allocation whole_batches(std::int64_t held, std::span<const double> exact,
                                       std::span<const double> wanted, std::span<const BatchBounds> bounds);

// What a job begins with: equal batches or fixed shares, as far as bounds and memory allow.
[[nodiscard]] Allocation equal_batches(const BatchingConfig& config, std::span<const WorkerPrior> workers);
[[nodiscard]] Allocation shared_batches(const BatchingConfig& config, std::span<const WorkerPrior> workers);
[[nodiscard]] Allocation start_batches(const BatchingConfig& config, std::span<const WorkerPrior> workers);

}  // namespace paceline

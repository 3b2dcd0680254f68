// How much each gradient of one update counts.
//
// Models:      weights of mean-over-batch gradients when batches differ.
// Equation:    by-batch λ_k = b_k / Σ b_i;  equal λ_k = 1 / n. Σ λ_k = 1 either way, so a gradient that is an
//              update by itself (asynchronous) has weight 1: there the learning rate follows the batch, if
//              `batch_scaling` says so (sim/learning/optimizer.hpp), which changes the step but not what the
//              velocity remembers.
// Units:       batches in samples; weights are dimensionless.
// Not modelled: weights that depend on staleness.
// Source:      OmniLearn, ACSOS 2020 (its printed extra factor 1/K is an error: its code has none).
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "sim/policy/batching/batching.hpp"

namespace paceline {

[[nodiscard]] std::vector<double> aggregation_weights(GradientWeighting weighting,
                                                      std::span<const std::int64_t> batches);

}  // namespace paceline

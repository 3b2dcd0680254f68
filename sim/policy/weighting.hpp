// How much each gradient of one update counts.
//
// Models:      weights of mean-over-batch gradients when batches differ.
// Equation:    synchronous (several workers wait for each other):  by-batch λ_k = b_k / Σ b_i;  equal λ_k = 1 / n.
//              Σ λ_k = 1 either way. asynchronous (each gradient its own update):  by-batch b_k / b_initial (the
//              learning rate follows the batch);  equal 1.
// Units:       batches in samples; weights are dimensionless.
// Not modelled: weights that depend on staleness.
// Source:      OmniLearn, ACSOS 2020 (its printed extra factor 1/K is an error: the released code has none);
//              asynchronous rule: stated default of the OmniLearn reference, section 9.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "sim/policy/batching.hpp"
#include "sim/policy/phase.hpp"

namespace paceline {

[[nodiscard]] std::vector<double> aggregation_weights(GradientWeighting weighting, SynchronizationKind kind,
                                                      std::span<const std::int64_t> batches,
                                                      std::int64_t initial_batch);

}  // namespace paceline

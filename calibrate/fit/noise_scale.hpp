// The gradient noise scale: the batch beyond which larger ones bring little.
//
// Models:      a mini-batch gradient is the true one, G, plus noise of covariance Σ/batch.
// Equation:    E|g_b|² = |G|² + tr Σ / b, so from batches b and B:
//              |G|² ≈ (B·|g_B|² − b·|g_b|²)/(B − b),  tr Σ ≈ (|g_b|² − |g_B|²)/(1/b − 1/B), both without
//              bias;
//              B_simple = mean(tr Σ) / mean(|G|²): the ratio of averages, since the average of ratios is
//              biased.
//              interval: bootstrap over the repeats, 95 %. Where |G|² is not above 0 the scale is unbounded.
// Units:       samples.
// Assumptions: repeats are independent.
// Source:      McCandlish et al., "An empirical model of large-batch training", 2018, appendix A.1.
#pragma once

#include <limits>
#include <span>

#include "kernels/interface/gradient_noise.hpp"

namespace paceline::calibrate {

struct NoiseScale {
  double samples = std::numeric_limits<double>::infinity();
  double low = 0.0;
  double high = std::numeric_limits<double>::infinity();
};

[[nodiscard]] NoiseScale noise_scale(std::span<const kernels::GradientSquares> repeats, double small_batch,
                                     double large_batch);

}  // namespace paceline::calibrate

// Location and spread of measured durations, and small least-squares problems.
//
// Equation:    robust_location: Tukey's biweight M-estimate, x̂ = Σ w_i x_i / Σ w_i, w_i = (1 −
//              (r_i/(c·s))²)² for |r_i| < c·s, else 0; r_i = x_i − x̂, c = 4.685; started at the median;
//              relative_least_squares: argmin Σ_i (Σ_j x_j·terms_ij / value_i − 1)² subject to x ≥ 0, by
//              trying every set of unknowns;
//              variation_in_pairs: √(exp(σ²) − 1), σ = √2 Φ⁻¹((1 + d / 2) / 2), where two values of a pair
//              are on average d of their mean apart; log-normal ones are 2 (2 Φ(σ / √2) − 1).
// Units:       those of the values.
// Assumptions: fewer than half of the values are outliers; at most 4 unknowns.
// Source:      Beaton and Tukey 1974; Maronna et al., "Robust statistics", 2006; Lawson and Hanson 1974;
//              Aitchison and Brown, "The lognormal distribution", 1957, for the mean difference.
#pragma once

#include <vector>

#include "sim/base/order_statistics.hpp"

namespace paceline::calibrate {

// `scale` is the standard deviation of values that are no outliers; 0: the median.
[[nodiscard]] double robust_location(const std::vector<double>& values, double scale);
// 1.4826 · median absolute value: the standard deviation of normal deviations.
[[nodiscard]] double robust_scale(const std::vector<double>& deviations);

// Standard deviation over mean of the log-normal values of which two are as far apart on average as two that
// happened at once: at the same place of two series, or next to each other in the only one; each is divided
// by the mean of its series. So the later one is as late as was measured, whatever the distribution, and both
// may be late together. A few stalls make up most of a standard deviation, but hardly delay the later one.
// All are above 0; no pair: 0.
[[nodiscard]] double variation_in_pairs(std::vector<std::vector<double>> series);

// What the unknowns should fulfil: Σ_j x_j·terms_j = value.
struct LinearEquation {
  double value = 1.0;
  std::vector<double> terms;
};
struct LeastSquares {
  std::vector<double> unknowns;  // each at least 0
  double error = 0.0;            // the sum of the squared relative residuals
};
[[nodiscard]] LeastSquares relative_least_squares(const std::vector<LinearEquation>& equations);

}  // namespace paceline::calibrate

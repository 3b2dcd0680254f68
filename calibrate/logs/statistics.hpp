// Location and spread of measured durations, and small least-squares problems.
//
// Equation:    mean_without_stalls = mean of those values that are at most 3 times the median;
//              robust_location: Tukey's biweight M-estimate, x̂ = Σ w_i x_i / Σ w_i, w_i = (1 − (r_i/(c·s))²)² for
//              |r_i| < c·s, else 0; r_i = x_i − x̂, c = 4.685; started at the median;
//              non_negative_least_squares: argmin |A·x − y|² subject to x ≥ 0, by trying every set of columns.
// Units:       those of the values.
// Assumptions: fewer than half of the values are outliers; at most 4 unknowns.
// Not modelled: correlation between values.
// Source:      Beaton and Tukey 1974; Maronna et al., "Robust statistics", 2006; Lawson and Hanson 1974.
#pragma once

#include <vector>

#include <Eigen/Core>

namespace paceline::calibrate {

// Times the median beyond which a single iteration is taken for a stall.
inline constexpr double stall_bound = 3.0;

[[nodiscard]] double mean_without_stalls(const std::vector<double>& values);
// `scale` is the standard deviation of values that are no outliers; 0: the median.
[[nodiscard]] double robust_location(const std::vector<double>& values, double scale);
// 1.4826 · median absolute value: the standard deviation of normal deviations.
[[nodiscard]] double robust_scale(const std::vector<double>& deviations);
[[nodiscard]] Eigen::VectorXd non_negative_least_squares(const Eigen::MatrixXd& a, const Eigen::VectorXd& y);

}  // namespace paceline::calibrate

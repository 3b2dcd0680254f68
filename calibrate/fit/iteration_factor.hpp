// The shape of iteration noise: log-normal, or as measured.
//
// Models:      a factor of mean 1 on the time of each iteration.
// Equation:    see jitter.hpp. Both densities are mixed with 1 % of a log-normal ten times as wide, so that
//              no left-out value is impossible and none decides alone.
#pragma once

#include <vector>

namespace paceline::calibrate {

// Factors of each pass, one vector a pass, mean 1. Mean over left-out passes of the log-likelihood of an
// iteration under the histogram minus that under the log-normal, in nats; at least 2 passes.
[[nodiscard]] double empirical_advantage_nats(const std::vector<std::vector<double>>& factors_by_pass);

// Values at equally spaced probabilities 0 … 1 whose linear interpolation has mean exactly 1.
[[nodiscard]] std::vector<double> factor_quantiles(const std::vector<double>& factors);
// sd / mean of the factor drawn by linear interpolation of `quantiles`.
[[nodiscard]] double quantiles_cv(const std::vector<double>& quantiles);

}  // namespace paceline::calibrate

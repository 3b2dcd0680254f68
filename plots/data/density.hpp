// The density of a sample, for violins.
//
// Models:      a smooth estimate of how often values occur.
// Equation:    f(x) = 1/(n·h·√(2π)) Σ exp(-((x - x_i)/h)²/2) at equally spaced x from min - 3h to max + 3h.
// Units:       those of the values.
// Assumptions: h is chosen by the caller, small against what the figure shows; values are binned to h/4
// first, so that
//              the cost does not grow with the square of their number.
// Source:      Rosenblatt 1956, Parzen 1962.
#pragma once

#include <vector>

namespace paceline::plots {

struct DensityPoint {
  double at = 0.0;
  double density = 0.0;
};

// Empty for no values; `bandwidth` > 0.
[[nodiscard]] std::vector<DensityPoint> density_of(const std::vector<double>& values, double bandwidth);

}  // namespace paceline::plots

// What many values come to in a figure: a band of learning curves, the density of a sample.
//
// Equation:    band: a(r, t) = accuracy of the last evaluation of replication r at or before t (a step
//              function; before the first evaluation its own first value). At each time of a grid the 0.1,
//              0.5 and 0.9 quantiles over r of a(r, t), as in sim/base/order_statistics.hpp.
//              density: f(x) = 1/(n·h·√(2π)) Σ exp(-((x - x_i)/h)²/2) at equally spaced x from min - 3h to
//              max + 3h.
// Units:       those of the values.
// Assumptions: a replication that stopped keeps its last accuracy. h is chosen by the caller, small against
//              what the figure shows; values are binned to h/4 first, so that the cost does not grow with the
//              square of their number.
// Not modelled: uncertainty of the quantiles; with five replications the band is nearly their range.
// Source:      Rosenblatt 1956, Parzen 1962 (density).
#pragma once

#include <cstddef>
#include <vector>

#include "plots/data/results.hpp"

namespace paceline::plots {

struct BandPoint {
  double time_s = 0.0;
  std::size_t running = 0;  // replications whose last evaluation is at or after this time
  double median = 0.0;
  double low = 0.0;   // 10 % of replications are below
  double high = 0.0;  // 90 % of replications are below
};

// The value of the step function at `time_s`.
[[nodiscard]] double accuracy_at(const LearningCurve& curve, double time_s);

// The band at 0, end/intervals, 2·end/intervals, … end, where `end` is the longest curve's last evaluation.
[[nodiscard]] std::vector<BandPoint> accuracy_band(const std::vector<LearningCurve>& curves,
                                                   std::size_t intervals);

struct DensityPoint {
  double at = 0.0;
  double density = 0.0;
};

// Empty for no values; `bandwidth` > 0.
[[nodiscard]] std::vector<DensityPoint> density_of(const std::vector<double>& values, double bandwidth);

}  // namespace paceline::plots

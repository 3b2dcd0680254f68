// A band of learning curves: accuracy over time of one policy, over its replications.
//
// Equation:    a(r, t) = accuracy of the last evaluation of replication r at or before t (a step function;
//              before the first evaluation its own first value). At each time of a grid: the 0.1, 0.5 and 0.9
//              quantiles over r of a(r, t), as in sim/base/order_statistics.hpp.
// Assumptions: a replication that stopped keeps its last accuracy. `running` counts those still at work, so
//              that a figure can end the median where fewer than half of them are.
// Not modelled: uncertainty of the quantiles themselves; with five replications the band is nearly their
// range.
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

}  // namespace paceline::plots

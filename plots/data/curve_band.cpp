#include "plots/data/curve_band.hpp"

#include <algorithm>
#include <cmath>

#include "sim/base/check.hpp"
#include "sim/base/order_statistics.hpp"

namespace paceline::plots {

double accuracy_at(const LearningCurve& curve, double time_s) {
  const auto after = std::ranges::upper_bound(curve.evaluations, time_s, {}, &Evaluation::time_s);
  if (after == curve.evaluations.begin()) return curve.evaluations.front().accuracy;
  return std::prev(after)->accuracy;
}

std::vector<BandPoint> accuracy_band(const std::vector<LearningCurve>& curves, std::size_t intervals) {
  check(!curves.empty() && intervals > 0, "a band needs curves and a grid");
  double end_s = 0.0;
  for (const LearningCurve& curve : curves) end_s = std::max(end_s, curve.evaluations.back().time_s);

  std::vector<BandPoint> band;
  for (std::size_t i = 0; i <= intervals; ++i) {
    BandPoint point;
    point.time_s = i == intervals ? end_s : end_s * static_cast<double>(i) / static_cast<double>(intervals);
    std::vector<double> accuracies;
    for (const LearningCurve& curve : curves) {
      accuracies.push_back(accuracy_at(curve, point.time_s));
      if (curve.evaluations.back().time_s >= point.time_s) ++point.running;
    }
    point.low = quantile(accuracies, 0.1);
    point.median = quantile(accuracies, 0.5);
    point.high = quantile(accuracies, 0.9);
    band.push_back(point);
  }
  return band;
}

}  // namespace paceline::plots

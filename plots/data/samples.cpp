#include "plots/data/samples.hpp"

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <map>
#include <numbers>

#include "sim/base/check.hpp"
#include "sim/base/order_statistics.hpp"

namespace paceline::plots {
namespace {

constexpr double bins_per_bandwidth = 4.0;
constexpr double points_per_bandwidth = 3.0;
constexpr double shown_bandwidths = 3.0;  // beyond the outermost values
constexpr double kernel_bandwidths = 5.0;

}  // namespace

double accuracy_at(const LearningCurve& curve, double time_s) {
  const auto after = std::ranges::upper_bound(curve, time_s, {}, &Evaluation::time_s);
  return after == curve.begin() ? curve.front().accuracy : std::prev(after)->accuracy;
}

std::vector<BandPoint> accuracy_band(const std::vector<LearningCurve>& curves, std::size_t intervals) {
  check(!curves.empty() && intervals > 0, "a band needs curves and a grid");
  double end_s = 0.0;
  for (const LearningCurve& curve : curves) end_s = std::max(end_s, curve.back().time_s);
  std::vector<BandPoint> band;
  for (std::size_t i = 0; i <= intervals; ++i) {
    BandPoint& point = band.emplace_back();
    point.time_s = i == intervals ? end_s : end_s * static_cast<double>(i) / static_cast<double>(intervals);
    std::vector<double> accuracies;
    for (const LearningCurve& curve : curves) {
      accuracies.push_back(accuracy_at(curve, point.time_s));
      if (curve.back().time_s >= point.time_s) ++point.running;
    }
    point.low = quantile(accuracies, 0.1);
    point.median = quantile(accuracies, 0.5);
    point.high = quantile(accuracies, 0.9);
  }
  return band;
}

std::vector<DensityPoint> density_of(const std::vector<double>& values, double bandwidth) {
  check(bandwidth > 0.0, "a density has a bandwidth");
  if (values.empty()) return {};
  std::map<std::int64_t, double> bins;
  for (const double value : values) ++bins[std::llround(value * bins_per_bandwidth / bandwidth)];
  const double norm =
      1.0 / (static_cast<double>(values.size()) * bandwidth * std::sqrt(2.0 * std::numbers::pi));
  const auto [low, high] = std::ranges::minmax(values);
  const double step = bandwidth / points_per_bandwidth;
  const double beyond = shown_bandwidths * bandwidth;
  std::vector<DensityPoint> points;
  for (double at = low - beyond; at <= high + beyond + step / 2.0; at += step) {
    DensityPoint& point = points.emplace_back(DensityPoint{at, 0.0});
    const auto first = std::llround((at / bandwidth - kernel_bandwidths) * bins_per_bandwidth);
    for (auto bin = bins.lower_bound(first); bin != bins.end(); ++bin) {
      const double distance = at / bandwidth - static_cast<double>(bin->first) / bins_per_bandwidth;
      if (distance < -kernel_bandwidths) break;
      point.density += norm * bin->second * std::exp(-distance * distance / 2.0);
    }
  }
  return points;
}

}  // namespace paceline::plots

#include "plots/data/density.hpp"

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <map>
#include <numbers>

#include "sim/base/check.hpp"

namespace paceline::plots {
namespace {

constexpr double bins_per_bandwidth = 4.0;
constexpr double points_per_bandwidth = 3.0;
constexpr double reach = 3.0;  // bandwidths

}  // namespace

std::vector<DensityPoint> density_of(const std::vector<double>& values, double bandwidth) {
  check(bandwidth > 0.0, "a density has a bandwidth");
  if (values.empty()) return {};
  std::map<std::int64_t, double> bins;
  for (const double value : values) ++bins[std::llround(value * bins_per_bandwidth / bandwidth)];
  const double step = bandwidth / points_per_bandwidth;
  const double norm =
      1.0 / (static_cast<double>(values.size()) * bandwidth * std::sqrt(2.0 * std::numbers::pi));
  const auto [low, high] = std::ranges::minmax(values);
  std::vector<DensityPoint> points;
  for (double at = low - reach * bandwidth; at <= high + reach * bandwidth + step / 2.0; at += step) {
    DensityPoint point{at, 0.0};
    const auto first = bins.lower_bound(std::llround((at / bandwidth - 5.0) * bins_per_bandwidth));
    for (auto bin = first; bin != bins.end(); ++bin) {
      const double distance = at / bandwidth - static_cast<double>(bin->first) / bins_per_bandwidth;
      if (distance < -5.0) break;
      point.density += norm * bin->second * std::exp(-distance * distance / 2.0);
    }
    points.push_back(point);
  }
  return points;
}

}  // namespace paceline::plots

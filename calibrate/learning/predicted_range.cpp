#include "calibrate/learning/predicted_range.hpp"

#include <vector>

#include "sim/base/order_statistics.hpp"
#include "sim/base/random.hpp"

namespace paceline {
namespace {

constexpr std::uint32_t sets = 400;
constexpr std::size_t fewest_figures = 20;
constexpr std::uint32_t range_seed = 3;
constexpr double tail = 0.05;

PredictedRuns drawn(const PredictedRuns& predicted, std::size_t runs, std::uint32_t set) {
  RandomStream random({range_seed, set}, Purpose::bootstrap);
  PredictedRuns few;
  for (std::size_t i = 0; i < runs; ++i)
    few.runs.push_back(predicted.runs[random.below(predicted.runs.size())]);
  return few;
}

}  // namespace

std::optional<PredictedRange> predicted_range(
    const PredictedRuns& predicted, std::size_t runs,
    const std::function<std::optional<double>(const PredictedRuns&)>& figure) {
  if (predicted.runs.empty() || runs == 0) return std::nullopt;
  std::vector<double> figures;
  for (std::uint32_t set = 0; set < sets; ++set)
    if (const std::optional<double> value = figure(drawn(predicted, runs, set))) figures.push_back(*value);
  if (figures.size() < fewest_figures) return std::nullopt;
  return PredictedRange{quantile(figures, tail), quantile(figures, 1.0 - tail)};
}

}  // namespace paceline

#include "calibrate/fit/noise_scale.hpp"

#include <algorithm>
#include <cmath>
#include <vector>

#include "sim/base/check.hpp"
#include "sim/base/random.hpp"

namespace paceline::calibrate {
namespace {

constexpr std::uint32_t bootstraps = 1000;
constexpr double tail = 0.025;

double ratio(const std::vector<kernels::GradientSquares>& repeats, double small_batch, double large_batch) {
  double length = 0.0;
  double noise = 0.0;
  for (const kernels::GradientSquares& squares : repeats) {
    length += (large_batch * squares.large - small_batch * squares.small) / (large_batch - small_batch);
    noise += (squares.small - squares.large) / (1.0 / small_batch - 1.0 / large_batch);
  }
  if (length <= 0.0) return std::numeric_limits<double>::infinity();
  return std::max(0.0, noise / length);
}

}  // namespace

NoiseScale noise_scale(std::span<const kernels::GradientSquares> repeats, double small_batch,
                       double large_batch) {
  check(repeats.size() >= 2 && large_batch > small_batch, "two batch sizes, several repeats");
  std::vector<double> drawn;
  for (std::uint32_t k = 0; k < bootstraps; ++k) {
    RandomStream stream(Seed{}, Purpose::bootstrap, k);
    std::vector<kernels::GradientSquares> sample;
    for (std::size_t i = 0; i < repeats.size(); ++i) sample.push_back(repeats[stream.below(repeats.size())]);
    drawn.push_back(ratio(sample, small_batch, large_batch));
  }
  std::ranges::sort(drawn);
  // Order statistics: interpolation between a number and infinity would make neither.
  const auto at = [&](double p) { return drawn[static_cast<std::size_t>(p * (bootstraps - 1))]; };
  return {ratio({repeats.begin(), repeats.end()}, small_batch, large_batch), at(tail), at(1.0 - tail)};
}

}  // namespace paceline::calibrate

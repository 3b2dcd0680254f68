#include "calibrate/fit/noise_scale.hpp"

#include <algorithm>
#include <cmath>

#include <fmt/format.h>

#include "sim/base/check.hpp"
#include "sim/base/json.hpp"
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

// JSON knows no infinity: null stands for it.
std::optional<double> if_finite(double value) {
  return std::isfinite(value) ? std::optional(value) : std::nullopt;
}
double or_infinity(const nlohmann::json& value) {
  return value.get<std::optional<double>>().value_or(std::numeric_limits<double>::infinity());
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

void to_json(nlohmann::ordered_json& json, const NoiseRecord& noise) {
  auto points = nlohmann::ordered_json::array();
  for (const auto& [updates, loss, scale] : noise.points)
    points.push_back({{"updates", updates},
                      {"loss", loss},
                      {"noise_scale_samples", if_finite(scale.samples)},
                      {"low", if_finite(scale.low)},
                      {"high", if_finite(scale.high)}});
  json = {{"data", noise.data},
          {"small_batch", noise.small_batch},
          {"large_batch", noise.large_batch},
          {"repeats", noise.repeats},
          {"points", points}};
}

void from_json(const nlohmann::json& json, NoiseRecord& noise) {
  noise = {json.at("data"), json.at("small_batch"), json.at("large_batch"), json.at("repeats"), {}};
  for (const auto& point : json.at("points"))
    noise.points.push_back({point.at("updates"),
                            point.at("loss"),
                            {or_infinity(point.at("noise_scale_samples")), or_infinity(point.at("low")),
                             or_infinity(point.at("high"))}});
}

std::string noise_text(const NoiseRecord& noise) {
  std::string text = fmt::format(
      "gradient noise scale on {} (batches {} and {}, {} pairs):\n  updates   loss   samples (95 % "
      "interval)\n",
      noise.data, noise.small_batch, noise.large_batch, noise.repeats);
  for (const auto& [updates, loss, scale] : noise.points)
    text += fmt::format("  {:>7}  {:>5.2f}   {:.3g} ({:.3g} … {:.3g})\n", updates, loss, scale.samples,
                        scale.low, scale.high);
  return text;
}

}  // namespace paceline::calibrate

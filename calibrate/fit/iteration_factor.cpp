#include "calibrate/fit/iteration_factor.hpp"

#include <algorithm>
#include <cmath>
#include <numbers>

#include "calibrate/logs/statistics.hpp"
#include "sim/base/check.hpp"

namespace paceline::calibrate {
namespace {

constexpr std::size_t bins = 16;
constexpr double narrowest_bin = 1e-4;  // clocks tick: equal durations must not become a certainty
constexpr double mixed_in = 0.01;

struct LogNormalShape {
  double mu = 0.0;
  double sigma = 1.0;

  [[nodiscard]] double density(double x) const {
    const double z = (std::log(x) - mu) / sigma;
    return std::exp(-0.5 * z * z) / (x * sigma * std::sqrt(2.0 * std::numbers::pi));
  }
};

LogNormalShape log_normal_of(const std::vector<double>& factors) {
  double sum = 0.0;
  double squares = 0.0;
  for (const double factor : factors) {
    const double log = std::log(factor);
    sum += log;
    squares += log * log;
  }
  const auto n = static_cast<double>(factors.size());
  const double variance = squares / n - (sum / n) * (sum / n);
  return {sum / n, std::max(narrowest_bin, std::sqrt(std::max(0.0, variance)))};
}

std::vector<double> edges_of(const std::vector<double>& factors) {
  std::vector<double> sorted = factors;
  std::ranges::sort(sorted);
  std::vector<double> edges;
  const auto last = static_cast<double>(sorted.size() - 1);
  for (std::size_t i = 0; i <= bins; ++i) {
    const double position = last * static_cast<double>(i) / static_cast<double>(bins);
    const auto below = std::min(static_cast<std::size_t>(position), sorted.size() - 2);
    const double weight = position - static_cast<double>(below);
    edges.push_back((1.0 - weight) * sorted[below] + weight * sorted[below + 1]);
  }
  return edges;
}

double histogram_density(const std::vector<double>& edges, double x) {
  if (x < edges.front() || x > edges.back()) return 0.0;
  const auto above = std::upper_bound(edges.begin() + 1, edges.end() - 1, x);
  const double width = std::max(narrowest_bin, *above - *(above - 1));
  return 1.0 / (static_cast<double>(bins) * width);
}

}  // namespace

double empirical_advantage_nats(const std::vector<std::vector<double>>& factors_by_pass) {
  check(factors_by_pass.size() >= 2, "a pass is left out");
  double sum = 0.0;
  double count = 0.0;
  for (std::size_t left_out = 0; left_out < factors_by_pass.size(); ++left_out) {
    std::vector<double> others;
    for (std::size_t pass = 0; pass < factors_by_pass.size(); ++pass)
      if (pass != left_out)
        others.insert(others.end(), factors_by_pass[pass].begin(), factors_by_pass[pass].end());
    if (others.size() < bins) continue;
    const LogNormalShape log_normal = log_normal_of(others);
    const std::vector<double> edges = edges_of(others);
    for (const double x : factors_by_pass[left_out]) {
      // Both are mixed with a wide one: a value far out must not decide alone.
      const LogNormalShape wide{log_normal.mu, 10.0 * log_normal.sigma};
      const double floor = mixed_in * wide.density(x) + 1e-12;
      sum += std::log((1.0 - mixed_in) * histogram_density(edges, x) + floor) -
             std::log((1.0 - mixed_in) * log_normal.density(x) + floor);
      count += 1.0;
    }
  }
  return count > 0.0 ? sum / count : 0.0;
}

std::vector<double> factor_quantiles(const std::vector<double>& factors) {
  std::vector<double> quantiles = edges_of(factors);
  double mean = 0.0;
  for (std::size_t i = 0; i + 1 < quantiles.size(); ++i)
    mean += 0.5 * (quantiles[i] + quantiles[i + 1]) / static_cast<double>(bins);
  for (double& quantile : quantiles) quantile /= mean;
  return quantiles;
}

double quantiles_cv(const std::vector<double>& quantiles) {
  // ∫ Q² over one linear piece from a to b = (a² + ab + b²)/3; the mean is 1.
  double square = 0.0;
  for (std::size_t i = 0; i + 1 < quantiles.size(); ++i) {
    const double a = quantiles[i];
    const double b = quantiles[i + 1];
    square += (a * a + a * b + b * b) / 3.0 / static_cast<double>(quantiles.size() - 1);
  }
  return std::sqrt(std::max(0.0, square - 1.0));
}

}  // namespace paceline::calibrate

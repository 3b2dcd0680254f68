#include "calibrate/logs/statistics.hpp"

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <limits>
#include <numbers>

#include <Eigen/Dense>
#include <boost/math/distributions/normal.hpp>

#include "sim/base/check.hpp"

namespace paceline::calibrate {
namespace {

// Median absolute deviation to standard deviation, for a normal distribution: 1 / Φ⁻¹(3/4).
constexpr double normal_consistency = 1.4826;
// 95 % efficiency for normal values.
constexpr double tukey_constant = 4.685;
constexpr int reweightings = 30;
constexpr Eigen::Index most_unknowns = 4;

}  // namespace

double robust_location(const std::vector<double>& values, double scale) {
  double location = median(values);
  if (scale <= 0.0) return location;
  for (int i = 0; i < reweightings; ++i) {
    double sum = 0.0;
    double weights = 0.0;
    for (const double value : values) {
      const double u = (value - location) / (tukey_constant * scale);
      if (std::abs(u) >= 1.0) continue;
      const double weight = (1.0 - u * u) * (1.0 - u * u);
      sum += weight * value;
      weights += weight;
    }
    if (weights <= 0.0) return location;  // all are far from a median between two groups
    location = sum / weights;
  }
  return location;
}

double robust_scale(const std::vector<double>& deviations) {
  std::vector<double> sizes;
  for (const double deviation : deviations) sizes.push_back(std::abs(deviation));
  return normal_consistency * median(std::move(sizes));
}

double variation_in_pairs(std::vector<std::vector<double>> series) {
  std::erase_if(series, [](const std::vector<double>& values) { return values.empty(); });
  for (std::vector<double>& values : series) {
    const double mean = spread_of(values).mean;
    for (double& value : values) value /= mean;
  }
  if (series.size() == 1) series.emplace_back(series.front().begin() + 1, series.front().end());
  double apart = 0.0;
  double mean = 0.0;  // of those in pairs
  for (std::size_t a = 0; a < series.size(); ++a)
    for (std::size_t b = a + 1; b < series.size(); ++b)
      for (std::size_t k = 0; k < std::min(series[a].size(), series[b].size()); ++k) {
        apart += std::abs(series[a][k] - series[b][k]);
        mean += 0.5 * (series[a][k] + series[b][k]);
      }
  if (mean == 0.0) return 0.0;
  const double d = apart / mean;
  check(d < 2.0, "positive values are less than two means apart");
  const double sigma = std::numbers::sqrt2 * boost::math::quantile(boost::math::normal(), 0.5 + 0.25 * d);
  return std::sqrt(std::expm1(sigma * sigma));
}

LeastSquares relative_least_squares(const std::vector<LinearEquation>& equations) {
  check(!equations.empty(), "a least-squares problem has equations");
  const auto rows = static_cast<Eigen::Index>(equations.size());
  const auto columns = static_cast<Eigen::Index>(equations.front().terms.size());
  check(columns >= 1 && columns <= most_unknowns, "a small least-squares problem");
  // Divided by its value, every equation has the target 1.
  Eigen::MatrixXd a(rows, columns);
  for (Eigen::Index i = 0; i < rows; ++i)
    for (Eigen::Index j = 0; j < columns; ++j) {
      const LinearEquation& equation = equations[static_cast<std::size_t>(i)];
      a(i, j) = equation.terms[static_cast<std::size_t>(j)] / equation.value;
    }
  const Eigen::VectorXd y = Eigen::VectorXd::Ones(rows);
  Eigen::VectorXd best = Eigen::VectorXd::Zero(columns);
  double best_error = std::numeric_limits<double>::infinity();
  for (unsigned set = 1; set < (1U << columns); ++set) {
    std::vector<Eigen::Index> chosen;
    for (Eigen::Index column = 0; column < columns; ++column)
      if ((set >> column & 1U) != 0) chosen.push_back(column);
    const Eigen::MatrixXd used = a(Eigen::all, chosen);
    const Eigen::VectorXd x = used.colPivHouseholderQr().solve(y);
    if (!x.allFinite() || (x.array() < 0.0).any()) continue;
    const double error = (used * x - y).squaredNorm();
    if (error >= best_error) continue;
    best_error = error;
    best.setZero();
    for (std::size_t i = 0; i < chosen.size(); ++i) best(chosen[i]) = x(static_cast<Eigen::Index>(i));
  }
  return {{best.begin(), best.end()}, (a * best - y).squaredNorm()};
}

}  // namespace paceline::calibrate

#include "calibrate/fit/batch_law.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <set>

#include "calibrate/logs/statistics.hpp"
#include "sim/base/check.hpp"

namespace paceline::calibrate {
namespace {

constexpr std::size_t unknowns_of_knee = 4;

void check_points(std::span<const BatchTime> points, std::size_t batches_needed) {
  std::set<std::int64_t> batches;
  for (const BatchTime& point : points) {
    check(point.seconds > 0.0 && std::isfinite(point.seconds), "measured times are positive");
    batches.insert(point.batch_samples);
  }
  check(batches.size() >= batches_needed, "a law needs as many batches as it has parameters");
}

// Unknowns: intercept and slope, or with a knee the slope before it and the slope beyond.
LeastSquares fit_line_to(std::span<const BatchTime> points, std::optional<double> knee = std::nullopt) {
  std::vector<LinearEquation> equations;
  for (const BatchTime& point : points) {
    const auto batch = static_cast<double>(point.batch_samples);
    if (knee)
      equations.push_back({point.seconds, {1.0, std::min(batch, *knee), std::max(0.0, batch - *knee)}});
    else
      equations.push_back({point.seconds, {1.0, batch}});
  }
  return relative_least_squares(equations);
}

// Inner batches, so that both slopes have a point beyond the knee, and the middles between them.
std::vector<double> possible_knees(std::span<const BatchTime> points) {
  std::set<std::int64_t> batches;
  for (const BatchTime& point : points) batches.insert(point.batch_samples);
  const std::vector<std::int64_t> sorted(batches.begin(), batches.end());
  std::vector<double> knees;
  for (std::size_t i = 1; i + 1 < sorted.size(); ++i) {
    const auto here = static_cast<double>(sorted[i]);
    if (i > 1) knees.push_back(std::sqrt(static_cast<double>(sorted[i - 1]) * here));
    knees.push_back(here);
  }
  return knees;
}

BatchLine fit_knee(std::span<const BatchTime> points) {
  BatchLine best;
  double best_error = std::numeric_limits<double>::infinity();
  for (const double knee : possible_knees(points)) {
    const LeastSquares fit = fit_line_to(points, knee);
    if (fit.error >= best_error) continue;
    best_error = fit.error;
    best = {fit.unknowns[0], fit.unknowns[1], BatchKnee{knee, Seconds{fit.unknowns[2] - fit.unknowns[1]}}};
  }
  return best;
}

}  // namespace

double BatchLine::at(double batch_samples) const {
  const double beyond =
      knee ? std::max(0.0, batch_samples - knee->at_samples) * knee->extra_slope.value() : 0.0;
  return intercept_s + slope_s_per_sample * batch_samples + beyond;
}

BatchLine fit_batch_law(std::span<const BatchTime> points, BatchLaw law) {
  if (law == BatchLaw::knee) {
    check_points(points, unknowns_of_knee + 1);
    return fit_knee(points);
  }
  check_points(points, 2);
  const LeastSquares fit = fit_line_to(points);
  return {fit.unknowns[0], fit.unknowns[1]};
}

double leave_one_out_error(std::span<const BatchTime> points, BatchLaw law) {
  check(points.size() >= 3, "leaving one batch out needs three");
  double sum = 0.0;
  for (std::size_t left_out = 0; left_out < points.size(); ++left_out) {
    std::vector<BatchTime> others(points.begin(), points.end());
    others.erase(others.begin() + static_cast<std::ptrdiff_t>(left_out));
    const BatchTime& point = points[left_out];
    const double predicted = fit_batch_law(others, law).at(static_cast<double>(point.batch_samples));
    sum += std::abs(predicted - point.seconds) / point.seconds;
  }
  return sum / static_cast<double>(points.size());
}

BatchLawChoice choose_batch_law(std::span<const BatchTime> points) {
  BatchLawChoice choice;
  choice.affine_error = leave_one_out_error(points, BatchLaw::affine);
  if (points.size() >= minimum_batches_for_knee)
    choice.knee_error = leave_one_out_error(points, BatchLaw::knee);
  if (choice.knee_error && *choice.knee_error < knee_must_win_by * choice.affine_error &&
      *choice.knee_error < choice.affine_error - smallest_gain)
    choice.law = BatchLaw::knee;
  choice.line = fit_batch_law(points, choice.law);
  choice.leave_one_out_error = choice.law == BatchLaw::knee ? *choice.knee_error : choice.affine_error;
  return choice;
}

}  // namespace paceline::calibrate

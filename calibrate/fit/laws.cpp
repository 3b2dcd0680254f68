#include "calibrate/fit/laws.hpp"

#include <algorithm>
#include <cmath>
#include <cstdlib>
#include <limits>
#include <set>

#include "calibrate/logs/statistics.hpp"
#include "sim/base/check.hpp"
#include "sim/base/order_statistics.hpp"

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

enum class Form { amdahl, power, universal };

struct CoreRatio {
  double cores = 1.0;
  double ratio = 1.0;
};

std::size_t parameters_of(Form form) {
  return form == Form::universal ? 3 : 2;
}

std::vector<CoreRatio> ratios_of(const TimeTable& times) {
  const auto& reference = times.begin()->second;
  std::vector<CoreRatio> ratios;
  for (const auto& [cores, by_batch] : times) {
    std::vector<double> of_batches;
    for (const auto& [batch, seconds] : by_batch)
      if (const auto found = reference.find(batch); found != reference.end())
        of_batches.push_back(seconds / found->second);
    check(!of_batches.empty(), "core counts share a batch");
    ratios.push_back({static_cast<double>(cores), median(of_batches)});
  }
  return ratios;
}

// Relative least squares of ratio = A + B/c (+ C·(c − 1)), coefficients at least 0.
std::vector<double> linear_form(const std::vector<CoreRatio>& points, Form form) {
  std::vector<LinearEquation> equations;
  for (const auto& [c, ratio] : points) {
    equations.push_back({ratio, {1.0, 1.0 / c}});
    if (form == Form::universal) equations.back().terms.push_back(c - 1.0);
  }
  return relative_least_squares(equations).unknowns;
}

// The slope of the regression of log ratio on −log cores.
CoreLaw fit_power(const std::vector<CoreRatio>& points) {
  const auto n = static_cast<double>(points.size());
  double mean_x = 0.0;
  double mean_y = 0.0;
  for (const auto& [cores, ratio] : points) {
    mean_x -= std::log(cores) / n;
    mean_y += std::log(ratio) / n;
  }
  double covariance = 0.0;
  double variance = 0.0;
  for (const auto& [cores, ratio] : points) {
    const double x = -std::log(cores) - mean_x;
    covariance += x * (std::log(ratio) - mean_y);
    variance += x * x;
  }
  return PowerLaw{std::max(0.0, covariance / variance)};
}

CoreLaw fit_form(Form form, const std::vector<CoreRatio>& points) {
  if (form == Form::power) return fit_power(points);
  const std::vector<double> x = linear_form(points, form);
  const double at_one_core = x[0] + x[1];
  if (form == Form::amdahl) return AmdahlLaw{x[0] / at_one_core};
  if (at_one_core <= 0.0) return UniversalLaw{1.0, 1.0};  // time proportional to c − 1: never the best
  return UniversalLaw{x[0] / at_one_core, x[2] / at_one_core};
}

int nearest(const TimeTable& times, int cores) {
  int best = times.begin()->first;
  for (const auto& entry : times)
    if (std::abs(entry.first - cores) < std::abs(best - cores)) best = entry.first;
  return best;
}

double error_without_each(const TimeTable& times, Form form) {
  double sum = 0.0;
  double count = 0.0;
  for (const auto& [cores, by_batch] : times) {
    TimeTable others = times;
    others.erase(cores);
    const CoreLaw law = fit_form(form, ratios_of(others));
    const int from = nearest(others, cores);
    const double ratio = time_ratio(law, cores) / time_ratio(law, from);
    for (const auto& [batch, seconds] : by_batch) {
      const auto found = others.at(from).find(batch);
      if (found == others.at(from).end()) continue;
      sum += std::abs(found->second * ratio - seconds) / seconds;
      count += 1.0;
    }
  }
  check(count > 0.0, "core counts share a batch");
  return sum / count;
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

std::vector<CoreLawCandidate> core_law_candidates(const TimeTable& times) {
  std::vector<CoreLawCandidate> candidates;
  for (const Form form : {Form::amdahl, Form::power, Form::universal}) {
    if (parameters_of(form) >= times.size()) continue;
    candidates.push_back({fit_form(form, ratios_of(times)), error_without_each(times, form)});
  }
  std::ranges::stable_sort(candidates, {}, &CoreLawCandidate::leave_one_out_error);
  return candidates;
}

std::optional<CoreScalingFit> fit_core_scaling(const TimeTable& times) {
  if (times.size() < 2) return std::nullopt;
  CoreScalingFit fit;
  fit.cores_min = times.begin()->first;
  fit.cores_max = times.rbegin()->first;
  const std::vector<CoreLawCandidate> candidates = core_law_candidates(times);
  if (candidates.empty()) {
    fit.law = fit_form(Form::amdahl, ratios_of(times));
    return fit;
  }
  fit.law = candidates.front().law;
  fit.leave_one_out_error = candidates.front().leave_one_out_error;
  return fit;
}

}  // namespace paceline::calibrate

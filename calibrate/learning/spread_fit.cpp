// The spread of runs and the evaluation noise.

#include <algorithm>
#include <array>
#include <cmath>
#include <optional>
#include <utility>
#include <vector>

#include <Eigen/Dense>

#include "calibrate/learning/model_fit.hpp"

namespace paceline {
namespace {

constexpr double unsettled_share = 0.3;
constexpr double settled_share = 0.2;  // differences before it show learning, not noise
constexpr double shift_step = 0.1;     // of a logarithm, for the derivative
constexpr double largest_speed_spread = 0.5;
constexpr double largest_penalty_spread = 1.0;
constexpr int weighting_rounds = 10;
constexpr double least_variance = 1e-8;  // accuracies are known to four digits

struct WeightedMean {
  double sum = 0.0;
  double weight = 0.0;
  void add(double value, double by) {
    sum += by * value;
    weight += by;
  }
  [[nodiscard]] double mean() const { return weight > 0.0 ? sum / weight : 0.0; }
};

double final_accuracy(const FittedForm& fitted, const TracedGroup& group, const RunEffects& effects) {
  const std::array end{group.group.plan().workload_minibatches()};
  return predict(fitted, group, end, effects).front().accuracy;
}

// Of the final accuracy in one group.
struct FinalVariance {
  double recorded = 0.0;
  double of_speed = 0.0;
  double per_penalty = 0.0;  // times the square of the penalty's deviation
  double degrees = 0.0;
};

// By quadrature: where runs that learn late have not caught up in the end, that is far from linear in the
// speed.
FinalVariance final_variance(const FittedForm& fitted, const TracedGroup& group, double speed) {
  WeightedMean end;
  WeightedMean square;
  for (const QuadratureNode& node : gauss_hermite) {
    const double accuracy = final_accuracy(fitted, group, {.speed_factor = std::exp(node.at * speed)});
    end.add(accuracy, node.weight);
    square.add(accuracy * accuracy, node.weight);
  }
  const double penalty =
      final_accuracy(fitted, group, {.penalty_factor = 0.0}) - final_accuracy(fitted, group, {});
  const double deviation = *group.group.final_accuracy_deviation();
  return {deviation * deviation, std::max(0.0, square.mean() - end.mean() * end.mean()), penalty * penalty,
          static_cast<double>(group.group.runs.size() - 1)};
}

// x >= 0 and y between 0 and `most` that minimize Σ w · (target - x - y·b)².
struct TwoSums {
  Eigen::Matrix2d products = Eigen::Matrix2d::Zero();
  Eigen::Vector2d targets = Eigen::Vector2d::Zero();
  void add(double b, double target, double weight) {
    const Eigen::Vector2d terms(1.0, b);
    products += weight * terms * terms.transpose();
    targets += weight * target * terms;
  }
  [[nodiscard]] std::array<double, 2> solve(double most) const {
    const double w = products(0, 0);
    if (products.determinant() > 1e-12 * w * products(1, 1)) {
      const Eigen::Vector2d free = products.inverse() * targets;
      if (free[0] >= 0.0 && free[1] >= 0.0 && free[1] <= most) return {free[0], free[1]};
      if (free[0] < 0.0) return {0.0, std::clamp(targets[1] / products(1, 1), 0.0, most)};
      if (free[1] > most) return {std::max(0.0, (targets[0] - most * products(0, 1)) / w), most};
    }
    return {w > 0.0 ? std::max(0.0, targets[0] / w) : 0.0, 0.0};
  }
};

// Neighbouring evaluations of one stretch: how much they differ beyond what the mean run does.
void add_differences(const TrainingRun& run, const std::vector<FormReading>& readings, double from,
                     double until, WeightedMean& squares, WeightedMean& fluctuation) {
  for (std::size_t i = 1; i < run.accuracy.size(); ++i) {
    if (run.accuracy[i - 1].minibatches < from || run.accuracy[i].minibatches > until) continue;
    const double recorded = run.accuracy[i].value - run.accuracy[i - 1].value;
    const double expected = readings[i].accuracy - readings[i - 1].accuracy;
    squares.add(0.5 * (recorded - expected) * (recorded - expected), 1.0);
    fluctuation.add(readings[i].fluctuation, 1.0);
  }
}

struct NoisePoint {
  double log_fluctuation = 0.0;
  double log_deviation = 0.0;
  double weight = 0.0;
};

// Slope and level at the weighted mean of the points.
EvaluationNoise line_through(const std::vector<NoisePoint>& points, double least) {
  WeightedMean fluctuation;
  WeightedMean deviation;
  for (const NoisePoint& point : points) {
    fluctuation.add(point.log_fluctuation, point.weight);
    deviation.add(point.log_deviation, point.weight);
  }
  const auto [lowest, highest] = std::ranges::minmax(points, {}, &NoisePoint::log_fluctuation);
  double exponent = 1.0;
  if (highest.log_fluctuation - lowest.log_fluctuation > std::log(1.5)) {
    double covariance = 0.0;
    double variance = 0.0;
    for (const NoisePoint& point : points) {
      const double x = point.log_fluctuation - fluctuation.mean();
      covariance += point.weight * x * (point.log_deviation - deviation.mean());
      variance += point.weight * x * x;
    }
    exponent = std::clamp(covariance / variance, 1.0, 2.5);
  }
  return {std::exp(deviation.mean() - exponent * fluctuation.mean()), exponent, least};
}

struct Stretch {
  double from = 0.0;  // mini-batches
  double until = 0.0;
};
std::optional<RunShift> shift_of(const FittedForm& fitted, const TracedGroup& group, const TrainingRun& run,
                                 const EvaluationNoise& noise, const RunEffects& stepped,
                                 const Stretch& stretch) {
  const std::vector<double> positions = positions_of(run.accuracy);
  const std::vector<FormReading> mean = predict(fitted, group, positions);
  const std::vector<FormReading> moved = predict(fitted, group, positions, stepped);
  double product = 0.0;
  double squares = 0.0;
  double noise_sum = 0.0;
  for (std::size_t i = 0; i < positions.size(); ++i) {
    if (positions[i] < stretch.from) continue;
    if (positions[i] > stretch.until) break;
    const double slope = (moved[i].accuracy - mean[i].accuracy) / shift_step;
    const double deviation = noise.deviation(mean[i].fluctuation);
    product += slope * (run.accuracy[i].value - mean[i].accuracy);
    squares += slope * slope;
    noise_sum += slope * slope * deviation * deviation;
  }
  if (squares <= 0.0) return std::nullopt;
  return RunShift{product / squares, noise_sum / (squares * squares)};
}

double fit_speed(const FittedForm& fitted, std::span<const TracedGroup> groups,
                 const EvaluationNoise& noise) {
  double squares = 0.0;
  double degrees = 0.0;
  for (const TracedGroup& group : groups) {
    std::vector<double> shifts;
    WeightedMean noise_variance;
    for (const TrainingRun& run : group.group.runs)
      if (const auto shift = speed_shift(fitted, group, run, noise)) {
        shifts.push_back(shift->shift);
        noise_variance.add(shift->noise_variance, 1.0);
      }
    if (shifts.size() < 2) continue;
    const double deviation = *deviation_of(shifts);
    squares += static_cast<double>(shifts.size() - 1) * (deviation * deviation - noise_variance.mean());
    degrees += static_cast<double>(shifts.size() - 1);
  }
  return degrees > 0.0 ? std::min(largest_speed_spread, std::sqrt(std::max(0.0, squares / degrees))) : 0.0;
}

}  // namespace

std::optional<RunShift> speed_shift(const FittedForm& fitted, const TracedGroup& group,
                                    const TrainingRun& run, const EvaluationNoise& noise) {
  return shift_of(fitted, group, run, noise, {.speed_factor = std::exp(shift_step)},
                  {0.0, unsettled_share * run.plan.workload_minibatches()});
}

std::optional<RunShift> noise_shift(const FittedForm& fitted, const TracedGroup& group,
                                    const TrainingRun& run, const EvaluationNoise& noise) {
  return shift_of(fitted, group, run, noise, {.noise_factor = std::exp(shift_step)},
                  {settled_share * run.plan.workload_minibatches(), run.plan.first_drop()});
}

EvaluationNoise fit_noise(const FittedForm& fitted, std::span<const TracedGroup> groups) {
  std::vector<NoisePoint> points;
  WeightedMean settled;
  for (const TracedGroup& group : groups) {
    WeightedMean noisy;
    WeightedMean fluctuation;
    for (const TrainingRun& run : group.group.runs) {
      const std::vector<FormReading> readings = predict(fitted, group, positions_of(run.accuracy));
      const double workload = run.plan.workload_minibatches();
      const double drop = run.plan.first_drop();
      add_differences(run, readings, settled_share * workload, drop, noisy, fluctuation);
      WeightedMean ignored;
      // One tenth of the workload later the drop's own rise is over.
      add_differences(run, readings, drop + 0.1 * workload, workload, settled, ignored);
    }
    if (noisy.mean() > 0.0 && fluctuation.mean() > 0.0)
      points.push_back({std::log(fluctuation.mean()), 0.5 * std::log(noisy.mean()), noisy.weight});
  }
  const double least = std::sqrt(settled.mean());
  if (points.empty()) return {0.0, 1.0, least};
  return line_through(points, least);
}

RunSpread fit_spread(const FittedForm& fitted, std::span<const TracedGroup> groups,
                     const EvaluationNoise& noise) {
  const double speed = fit_speed(fitted, groups, noise);
  std::vector<FinalVariance> variances;
  for (const TracedGroup& group : groups)
    if (group.group.runs.size() > 1) variances.push_back(final_variance(fitted, group, speed));
  std::array<double, 2> squares{};  // of ceiling and penalty
  for (int round = 0; round < weighting_rounds; ++round) {
    TwoSums sums;
    for (const FinalVariance& one : variances) {
      const double expected =
          round == 0 ? 1.0 : least_variance + one.of_speed + squares[0] + squares[1] * one.per_penalty;
      sums.add(one.per_penalty, one.recorded - one.of_speed, one.degrees / (expected * expected));
    }
    squares = sums.solve(largest_penalty_spread * largest_penalty_spread);
  }
  return {std::sqrt(squares[0]), std::sqrt(squares[1]), speed};
}

}  // namespace paceline

// The spread of runs and the evaluation noise.

#include <algorithm>
#include <array>
#include <cmath>
#include <vector>

#include "calibrate/learning/model_fit.hpp"

namespace paceline {
namespace {

constexpr double unsettled_share = 0.3;
constexpr double settled_share = 0.2;  // differences before it show learning, not noise
constexpr double speed_step = 0.1;     // of ln(speed), for the derivative
constexpr double largest_speed_spread = 0.5;
constexpr double largest_penalty_spread = 1.0;
constexpr int weighting_rounds = 10;
constexpr double least_variance = 1e-8;  // accuracies are known to four digits

struct Moment {
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
  Moment end;
  Moment square;
  for (const QuadratureNode& node : gauss_hermite) {
    const double accuracy = final_accuracy(fitted, group, {.speed_factor = std::exp(node.at * speed)});
    end.add(accuracy, node.weight);
    square.add(accuracy * accuracy, node.weight);
  }
  const double of_speed = std::max(0.0, square.mean() - end.mean() * end.mean());
  const double penalty =
      final_accuracy(fitted, group, {.penalty_factor = 0.0}) - final_accuracy(fitted, group, {});
  const double deviation = *group.group.final_accuracy_deviation();
  return {deviation * deviation, of_speed, penalty * penalty,
          static_cast<double>(group.group.runs.size() - 1)};
}

// x >= 0 and y between 0 and `most` that minimize Σ w · (target - x·a - y·b)².
struct TwoSums {
  double waa = 0.0;
  double wab = 0.0;
  double wbb = 0.0;
  double wat = 0.0;
  double wbt = 0.0;
  void add(double a, double b, double target, double weight) {
    waa += weight * a * a;
    wab += weight * a * b;
    wbb += weight * b * b;
    wat += weight * a * target;
    wbt += weight * b * target;
  }
  [[nodiscard]] std::array<double, 2> solve(double most) const {
    const double determinant = waa * wbb - wab * wab;
    if (determinant > 1e-12 * waa * wbb) {
      const double x = (wat * wbb - wbt * wab) / determinant;
      const double y = (wbt * waa - wat * wab) / determinant;
      if (x >= 0.0 && y >= 0.0 && y <= most) return {x, y};
      if (x < 0.0) return {0.0, std::clamp(wbt / wbb, 0.0, most)};
      if (y > most) return {std::max(0.0, (wat - most * wab) / waa), most};
    }
    return {waa > 0.0 ? std::max(0.0, wat / waa) : 0.0, 0.0};
  }
};

// Neighbouring evaluations of one stretch: how much they differ beyond what the mean run does.
void add_differences(const TrainingRun& run, const std::vector<FormReading>& readings, double from,
                     double until, Moment& squares, Moment& fluctuation) {
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
  Moment fluctuation;
  Moment deviation;
  double lowest = points.front().log_fluctuation;
  double highest = lowest;
  for (const NoisePoint& point : points) {
    fluctuation.add(point.log_fluctuation, point.weight);
    deviation.add(point.log_deviation, point.weight);
    lowest = std::min(lowest, point.log_fluctuation);
    highest = std::max(highest, point.log_fluctuation);
  }
  double exponent = 1.0;
  if (highest - lowest > std::log(1.5)) {
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

// A run's shift of ln(speed) and the variance evaluation noise gives it.
struct Shift {
  double value = 0.0;
  double noise_variance = 0.0;
  bool known = false;
};

Shift speed_shift(const FittedForm& fitted, const TracedGroup& group, const TrainingRun& run,
                  const EvaluationNoise& noise) {
  const std::vector<double> positions = positions_of(run.accuracy);
  const std::vector<FormReading> mean = predict(fitted, group, positions);
  const std::vector<FormReading> faster =
      predict(fitted, group, positions, {.speed_factor = std::exp(speed_step)});
  double product = 0.0;
  double squares = 0.0;
  double noise_sum = 0.0;
  for (std::size_t i = 0; i < positions.size(); ++i) {
    if (positions[i] > unsettled_share * run.plan.workload_minibatches()) break;
    const double slope = (faster[i].accuracy - mean[i].accuracy) / speed_step;
    const double deviation = noise.deviation(mean[i].fluctuation);
    product += slope * (run.accuracy[i].value - mean[i].accuracy);
    squares += slope * slope;
    noise_sum += slope * slope * deviation * deviation;
  }
  if (squares <= 0.0) return {};
  return {product / squares, noise_sum / (squares * squares), true};
}

double fit_speed(const FittedForm& fitted, std::span<const TracedGroup> groups,
                 const EvaluationNoise& noise) {
  double squares = 0.0;
  double degrees = 0.0;
  for (const TracedGroup& group : groups) {
    std::vector<Shift> shifts;
    for (const TrainingRun& run : group.group.runs)
      if (const Shift shift = speed_shift(fitted, group, run, noise); shift.known) shifts.push_back(shift);
    if (shifts.size() < 2) continue;
    const auto count = static_cast<double>(shifts.size());
    Moment mean;
    for (const Shift& shift : shifts) mean.add(shift.value, 1.0);
    for (const Shift& shift : shifts) {
      const double off = shift.value - mean.mean();
      squares += off * off - shift.noise_variance * (count - 1.0) / count;
    }
    degrees += count - 1.0;
  }
  return degrees > 0.0 ? std::min(largest_speed_spread, std::sqrt(std::max(0.0, squares / degrees))) : 0.0;
}

}  // namespace

EvaluationNoise fit_noise(const FittedForm& fitted, std::span<const TracedGroup> groups) {
  std::vector<NoisePoint> points;
  Moment settled;
  for (const TracedGroup& group : groups) {
    Moment noisy;
    Moment fluctuation;
    for (const TrainingRun& run : group.group.runs) {
      const std::vector<FormReading> readings = predict(fitted, group, positions_of(run.accuracy));
      const double workload = run.plan.workload_minibatches();
      const double drop = run.plan.first_drop();
      add_differences(run, readings, settled_share * workload, drop, noisy, fluctuation);
      Moment ignored;
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
      sums.add(1.0, one.per_penalty, one.recorded - one.of_speed, one.degrees / (expected * expected));
    }
    squares = sums.solve(largest_penalty_spread * largest_penalty_spread);
  }
  return {std::sqrt(squares[0]), std::sqrt(squares[1]), speed};
}

}  // namespace paceline

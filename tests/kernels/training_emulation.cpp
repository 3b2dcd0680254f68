#include "tests/kernels/training_emulation.hpp"

#include <algorithm>
#include <cmath>
#include <cstddef>

#include "kernels/network_learner.hpp"
#include "sim/base/random.hpp"

namespace paceline::test {
namespace {

constexpr double iteration_cv = 0.1;

class Emulation {
 public:
  explicit Emulation(const EmulationConfig& config)
      : config_(config),
        learner_({.network = "small-cnn",
                  .dataset = config.dataset,
                  .weight_decay = config.weight_decay,
                  .nesterov = false,
                  .worker_count = config.workers,
                  .seed = {.seed = config.seed, .replication = 0}}) {}

  std::vector<CurvePoint> run() {
    evaluate_if_due();
    if (config_.synchronization == Synchronization::bsp) {
      run_bsp();
    } else {
      run_asp();
    }
    return std::move(curve_);
  }

 private:
  GradientId iterate(std::uint64_t worker) {
    const GradientId gradient{next_gradient_++};
    learner_.pull(WorkerId{worker});
    learner_.compute(WorkerId{worker}, config_.batch_samples, gradient);
    return gradient;
  }

  void apply(const std::vector<WeightedGradient>& gradients) {
    learner_.apply(gradients, config_.hyperparameters);
    applied_ += std::ssize(gradients);
    evaluate_if_due();
  }

  void evaluate_if_due() {
    if (applied_ < next_evaluation_) return;
    curve_.push_back({.gradients = applied_, .evaluation = learner_.evaluate().value()});
    next_evaluation_ += config_.evaluate_every;
  }

  void run_bsp() {
    while (applied_ < config_.gradients) {
      std::vector<WeightedGradient> gradients;
      for (std::uint64_t worker = 0; worker < config_.workers; ++worker) {
        gradients.push_back({.gradient = iterate(worker), .weight = 1.0 / config_.workers});
      }
      apply(gradients);
    }
  }

  void run_asp() {
    RandomStream times({.seed = config_.seed, .replication = 0}, Purpose::test);
    std::vector<double> finish;
    std::vector<GradientId> running;
    for (std::uint64_t worker = 0; worker < config_.workers; ++worker) {
      running.push_back(iterate(worker));
      finish.push_back(times.log_normal(1.0, iteration_cv));
    }
    while (applied_ < config_.gradients) {
      const auto first = static_cast<std::size_t>(std::ranges::min_element(finish) - finish.begin());
      apply({{.gradient = running[first], .weight = 1.0}});
      running[first] = iterate(first);
      finish[first] += times.log_normal(1.0, iteration_cv);
    }
  }

  EmulationConfig config_;
  kernels::NetworkLearner learner_;
  std::vector<CurvePoint> curve_;
  std::uint64_t next_gradient_ = 0;
  std::int64_t applied_ = 0;
  std::int64_t next_evaluation_ = 0;
};

}  // namespace

std::vector<CurvePoint> emulate_training(const EmulationConfig& config) {
  return Emulation(config).run();
}

MeanAndDeviation summarize(const std::vector<double>& values) {
  const auto count = static_cast<double>(values.size());
  double sum = 0.0;
  for (const double value : values) sum += value;
  const double mean = sum / count;
  double squares = 0.0;
  for (const double value : values) squares += (value - mean) * (value - mean);
  return {.mean = mean, .deviation = std::sqrt(squares / (count - 1.0))};
}

}  // namespace paceline::test

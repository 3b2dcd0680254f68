#include "kernels/interface/gradient_noise.hpp"

#include <span>

#include "kernels/interface/training_step.hpp"
#include "kernels/networks/network.hpp"
#include "sim/base/check.hpp"
#include "sim/learning/sgd.hpp"

namespace paceline::kernels {
namespace {

constexpr std::int64_t training_batch = 32;
constexpr Hyperparameters training{.learning_rate = 0.02, .momentum = 0.9};

double squared_length(std::span<const float> vector) {
  double sum = 0.0;
  for (const float value : vector) sum += static_cast<double>(value) * value;
  return sum;
}

class Trainee {
 public:
  Trainee(const std::string& name, const DatasetSource& data)
      : batches_(data), network_(name, batches_.classes()) {
    network_.initialize(network_.parameters(), Seed{});
    velocity_.resize(network_.parameters().size());
  }

  void train_until(std::int64_t updates) {
    for (; updates_ < updates; ++updates_) {
      static_cast<void>(gradient_of(training_batch));
      sgd_step(network_.parameters(), velocity_, network_.gradient(), training, /*nesterov=*/false);
    }
  }

  [[nodiscard]] GradientSquares squares(const NoiseMeasurement& measurement, double& loss_sum) {
    const std::int64_t batches = measurement.large_batch / measurement.small_batch;
    std::vector<float> mean(network_.parameters().size());
    GradientSquares result;
    for (std::int64_t i = 0; i < batches; ++i) {
      loss_sum += gradient_of(measurement.small_batch) / static_cast<double>(batches);
      result.small += squared_length(network_.gradient()) / static_cast<double>(batches);
      accumulate_gradient(mean, network_.gradient(), 1.0 / static_cast<double>(batches));
    }
    result.large = squared_length(mean);
    return result;
  }

 private:
  // Loss of a random batch; its gradient is the network's.
  double gradient_of(std::int64_t samples) { return network_.forward_backward(batches_.load(samples)); }

  BatchLoading batches_;
  Network network_;
  std::vector<float> velocity_;
  std::int64_t updates_ = 0;
};

}  // namespace

std::vector<NoisePoint> measure_gradient_noise(const std::string& network,
                                               const NoiseMeasurement& measurement) {
  check(measurement.large_batch % measurement.small_batch == 0 &&
            measurement.large_batch > measurement.small_batch,
        "the large batch is made of small ones");
  Trainee trainee(network, measurement.data);
  std::vector<NoisePoint> points;
  for (const std::int64_t updates : measurement.points) {
    trainee.train_until(updates);
    NoisePoint point{updates, 0.0, {}};
    double losses = 0.0;
    for (int i = 0; i < measurement.repeats; ++i)
      point.repeats.push_back(trainee.squares(measurement, losses));
    point.loss = losses / measurement.repeats;
    points.push_back(std::move(point));
  }
  return points;
}

}  // namespace paceline::kernels

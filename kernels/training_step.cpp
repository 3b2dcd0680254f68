#include "kernels/training_step.hpp"

#include <algorithm>
#include <cstddef>

#include "kernels/network.hpp"
#include "sim/base/check.hpp"
#include "sim/base/random.hpp"
#include "sim/learning/sgd.hpp"

namespace paceline::kernels {
namespace {

constexpr std::int64_t classes = 10;
constexpr double weight_decay = 1e-4;
// A rate small enough that parameters hardly move over a measurement: the work must not change while it is
// timed (saturated or non-finite values run at another speed).
constexpr Hyperparameters hyperparameters{.learning_rate = 1e-6, .momentum = 0.9};

}  // namespace

struct TrainingStep::State {
  State(const std::string& network_name, std::int64_t batch_samples) : network(network_name, classes) {
    const auto batch = static_cast<std::size_t>(batch_samples);
    RandomStream stream(Seed{}, Purpose::dataset_generation);
    pixels.resize(batch * static_cast<std::size_t>(image_values));
    std::ranges::generate(pixels, [&] { return static_cast<float>(2.0 * stream.uniform() - 1.0); });
    for (std::int64_t i = 0; i < batch_samples; ++i) labels.push_back(i % classes);
    network.initialize(network.parameters(), Seed{});
    const auto size = static_cast<std::size_t>(network.parameter_count());
    worker_gradient.resize(size);
    worker_velocity.resize(size);
    server_parameters.assign(network.parameters().begin(), network.parameters().end());
    server_velocity.resize(size);
    server_sum.resize(size);
  }

  Network network;
  std::vector<float> pixels;
  std::vector<std::int64_t> labels;
  std::vector<float> worker_gradient;
  std::vector<float> worker_velocity;
  std::vector<float> server_parameters;
  std::vector<float> server_velocity;
  std::vector<float> server_sum;
};

TrainingStep::TrainingStep(const std::string& network, std::int64_t batch_samples) {
  check(batch_samples > 0, "a training step has samples");
  state_ = std::make_unique<State>(network, batch_samples);
}
TrainingStep::~TrainingStep() = default;
TrainingStep::TrainingStep(TrainingStep&&) noexcept = default;
TrainingStep& TrainingStep::operator=(TrainingStep&&) noexcept = default;

void TrainingStep::forward_backward() {
  state_->network.forward_backward(state_->pixels, state_->labels);
}

void TrainingStep::optimizer_step() {
  State& state = *state_;
  std::ranges::copy(state.network.gradient(), state.worker_gradient.begin());
  add_weight_decay(state.worker_gradient, state.network.parameters(), weight_decay);
  sgd_step(state.network.parameters(), state.worker_velocity, state.worker_gradient, hyperparameters,
           /*nesterov=*/false);
}

void TrainingStep::server_accumulate() {
  accumulate_gradient(state_->server_sum, state_->network.gradient(), 1.0);
}

void TrainingStep::server_step() {
  sgd_step(state_->server_parameters, state_->server_velocity, state_->server_sum, hyperparameters,
           /*nesterov=*/false);
  std::ranges::fill(state_->server_sum, 0.0F);
}

}  // namespace paceline::kernels

#include "kernels/interface/training_step.hpp"

#include <algorithm>
#include <cstddef>
#include <span>

#include <ATen/core/Tensor.h>
#include <ATen/ops/cross_entropy_loss.h>
#include <ATen/ops/empty.h>

#include "kernels/networks/flat_network.hpp"
#include "kernels/training/measured_model.hpp"
#include "sim/base/check.hpp"
#include "sim/base/random.hpp"
#include "sim/learning/sgd.hpp"

namespace paceline::kernels {
namespace {

constexpr double weight_decay = 1e-4;
// A rate small enough that parameters hardly move over a measurement: the work must not change while it is
// timed (saturated or non-finite values run at another speed).
constexpr Hyperparameters hyperparameters{.learning_rate = 1e-6, .momentum = 0.9};

at::Tensor noise_images(std::vector<std::int64_t> shape) {
  at::Tensor images = at::empty(shape);
  RandomStream stream(Seed{}, Purpose::dataset_generation);
  std::generate_n(images.data_ptr<float>(), images.numel(),
                  [&] { return static_cast<float>(2.0 * stream.uniform() - 1.0); });
  return images;
}

at::Tensor round_robin(const std::vector<std::int64_t>& shape, std::int64_t classes) {
  at::Tensor numbers = at::empty(shape, at::kLong);
  std::int64_t next = 0;
  std::generate_n(numbers.data_ptr<std::int64_t>(), numbers.numel(), [&] { return next++ % classes; });
  return numbers;
}

}  // namespace

struct TrainingStep::State {
  struct Server {
    explicit Server(std::span<const float> start)
        : parameters(start.begin(), start.end()), velocity(start.size()), sum(start.size()) {}
    std::vector<float> parameters;
    std::vector<float> velocity;
    std::vector<float> sum;
  };

  explicit State(const NetworkChoice& choice) : model(load_model(choice)), facts(model->facts()) {
    const auto size = static_cast<std::size_t>(facts.parameter_count);
    gradient.resize(size);
    worker_gradient.resize(size);
    worker_velocity.resize(size);
  }

  void set_batch(std::int64_t batch) {
    std::vector<std::int64_t> shape = {batch};
    shape.insert(shape.end(), facts.input_shape.begin(), facts.input_shape.end());
    const bool is_tokens = facts.input_shape.size() == 1;
    input = is_tokens ? round_robin(shape, facts.classes) : noise_images(shape);
    labels = round_robin({is_tokens ? batch * shape[1] : batch}, facts.classes);
  }

  [[nodiscard]] std::span<float> parameters() const {
    return {model->flat_parameters.data_ptr<float>(), static_cast<std::size_t>(facts.parameter_count)};
  }

  Server& running_server() {
    if (!server) server = std::make_unique<Server>(parameters());
    return *server;
  }

  std::unique_ptr<MeasuredModel> model;
  NetworkFacts facts;
  at::Tensor input;
  at::Tensor labels;
  at::Tensor loss;
  std::vector<float> gradient;
  std::vector<float> worker_gradient;
  std::vector<float> worker_velocity;
  std::unique_ptr<Server> server;  // only once asked for: it holds the parameters three times
};

TrainingStep::TrainingStep(const NetworkChoice& choice, std::int64_t batch_samples)
    : state_(std::make_unique<State>(choice)) {
  set_batch(batch_samples);
}
TrainingStep::~TrainingStep() = default;
TrainingStep::TrainingStep(TrainingStep&&) noexcept = default;
TrainingStep& TrainingStep::operator=(TrainingStep&&) noexcept = default;

void TrainingStep::set_batch(std::int64_t batch_samples) {
  check(batch_samples > 0, "a training step has samples");
  state_->set_batch(batch_samples);
}

std::int64_t TrainingStep::parameter_count() const {
  return state_->facts.parameter_count;
}

void TrainingStep::forward() {
  state_->loss = at::cross_entropy_loss(state_->model->logits(state_->input), state_->labels);
}

void TrainingStep::backward() {
  check(state_->loss.defined(), "backward follows forward");
  write_gradient(state_->loss, state_->model->parameter_views, state_->gradient);
  state_->loss.reset();
}

std::vector<double> TrainingStep::gradient_times(const std::function<double()>& now) {
  const double begin = now();
  forward();
  std::vector<double> times = times_of_gradients(state_->loss, state_->model->parameter_views, now);
  times.push_back(now());
  state_->loss.reset();
  for (double& time : times) time -= begin;
  return times;
}

void TrainingStep::optimizer_step() {
  State& state = *state_;
  std::ranges::copy(state.gradient, state.worker_gradient.begin());
  add_weight_decay(state.worker_gradient, state.parameters(), weight_decay);
  sgd_step(state.parameters(), state.worker_velocity, state.worker_gradient, hyperparameters,
           /*nesterov=*/false);
}

void TrainingStep::server_accumulate() {
  accumulate_gradient(state_->running_server().sum, state_->gradient, 1.0);
}

void TrainingStep::server_step() {
  State::Server& server = state_->running_server();
  sgd_step(server.parameters, server.velocity, server.sum, hyperparameters, /*nesterov=*/false);
  std::ranges::fill(server.sum, 0.0F);
}

}  // namespace paceline::kernels

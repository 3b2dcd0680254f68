#include "kernels/networks/network.hpp"

#include <ATen/core/Tensor.h>
#include <ATen/core/grad_mode.h>
#include <ATen/ops/cross_entropy_loss.h>
#include <ATen/ops/from_blob.h>
#include <ATen/ops/zeros.h>
#include <fmt/format.h>
#include <fmt/ranges.h>

#include "kernels/networks/flat_network.hpp"
#include "kernels/training/measured_model.hpp"
#include "sim/base/check.hpp"
#include "sim/base/diagnostic.hpp"

namespace paceline::kernels {
namespace {

// LibTorch reads a batch in place; from_blob has no const form.
at::Tensor as_input(const Batch& batch, const std::vector<std::int64_t>& sample_shape) {
  check(!batch.labels.empty(), "a batch has samples");
  std::vector<std::int64_t> shape = {std::ssize(batch.labels)};
  if (sample_shape.size() == 1) {
    check(batch.tokens.size() == batch.labels.size(), "one label for each token");
    shape.front() /= sample_shape.front();
    shape.push_back(sample_shape.front());
    return at::from_blob(const_cast<std::int64_t*>(batch.tokens.data()), shape, at::kLong);
  }
  check(std::ssize(batch.pixels) == shape.front() * image_values, "one image for each label");
  shape.insert(shape.end(), sample_shape.begin(), sample_shape.end());
  return at::from_blob(const_cast<float*>(batch.pixels.data()), shape);
}

at::Tensor as_labels(const Batch& batch) {
  return at::from_blob(const_cast<std::int64_t*>(batch.labels.data()), {std::ssize(batch.labels)}, at::kLong);
}

std::string as_text(const std::vector<std::int64_t>& shape) {
  return shape.size() == 1 ? fmt::format("texts of {} tokens", shape.front())
                           : fmt::format("images of {}", fmt::join(shape, "x"));
}

}  // namespace

struct Network::State {
  explicit State(const NetworkChoice& choice)
      : input_shape(choice.input_shape),
        model(load_model(choice)),
        gradient(static_cast<std::size_t>(model->flat_parameters.numel())) {
    batch_statistics = at::zeros({std::ssize(model->initial_statistics())});
  }

  [[nodiscard]] BatchScore score(const Batch& batch, const at::Tensor& statistics, bool training) const {
    const at::NoGradGuard no_gradient;
    const at::Tensor logits = model->logits(as_input(batch, input_shape), statistics, training);
    const at::Tensor labels = as_labels(batch);
    const double mean_loss = at::cross_entropy_loss(logits, labels).item<double>();
    return {.loss_sum = mean_loss * static_cast<double>(batch.labels.size()),
            .correct = logits.argmax(1).eq(labels).sum().item<std::int64_t>(),
            .labels = std::ssize(batch.labels)};
  }

  std::vector<std::int64_t> input_shape;
  std::unique_ptr<MeasuredModel> model;
  std::vector<float> gradient;
  at::Tensor batch_statistics;
};

Network::Network(const std::string& name, std::int64_t classes,
                 const std::vector<std::int64_t>& input_shape) {
  check(classes >= 2, "a classifier tells at least two classes apart");
  // Its values are those of its file.
  const NetworkChoice choice{name, input_shape, classes};
  if (choice.is_file()) {
    state_ = std::make_unique<State>(choice);
    return;
  }
  if (const std::vector<std::int64_t> taken = shape_of(find_network(name).input); taken != input_shape)
    throw UserError(fmt::format("network `{}` cannot learn here: it takes {}, and the data set has {}", name,
                                as_text(taken), as_text(input_shape)),
                    "networks for CIFAR learn from images, `small-gpt` from `built-in-text`; the profile of "
                    "any other serves simulations without a network learner");
  state_ = std::make_unique<State>(choice);
  state_->model->flat_parameters.zero_();
}
Network::~Network() = default;
Network::Network(Network&&) noexcept = default;
Network& Network::operator=(Network&&) noexcept = default;

std::int64_t Network::parameter_count() const {
  return state_->model->flat_parameters.numel();
}

std::span<float> Network::parameters() {
  return {state_->model->flat_parameters.data_ptr<float>(), state_->gradient.size()};
}

std::span<const float> Network::gradient() const {
  return state_->gradient;
}

double Network::forward_backward(const Batch& batch) {
  state_->batch_statistics.zero_();  // what is not finite would stay: 0 · ∞
  const at::Tensor loss = at::cross_entropy_loss(
      state_->model->logits(as_input(batch, state_->input_shape), state_->batch_statistics,
                            /*training=*/true),
      as_labels(batch));
  write_gradient(loss, state_->model->parameter_views, state_->gradient);
  return loss.item<double>();
}

BatchScore Network::score(const Batch& batch) {
  return state_->score(batch, at::Tensor{}, /*training=*/true);
}

BatchScore Network::score(const Batch& batch, std::span<const float> statistics) {
  check(statistics.size() == batch_statistics().size(), "one mean and one variance for each channel");
  const at::Tensor given = at::from_blob(const_cast<float*>(statistics.data()), {std::ssize(statistics)});
  return state_->score(batch, given, /*training=*/false);
}

std::span<const float> Network::batch_statistics() const {
  return {state_->batch_statistics.data_ptr<float>(),
          static_cast<std::size_t>(state_->batch_statistics.numel())};
}

std::vector<float> Network::initial_batch_statistics() const {
  return state_->model->initial_statistics();
}

void Network::initialize(std::span<float> parameters, Seed seed) const {
  check(static_cast<std::int64_t>(parameters.size()) == parameter_count(), "one value for each parameter");
  state_->model->initialize(parameters, seed);
}

}  // namespace paceline::kernels

#include "kernels/networks/network.hpp"

#include <algorithm>

#include <ATen/core/Tensor.h>
#include <ATen/core/grad_mode.h>
#include <ATen/ops/cross_entropy_loss.h>
#include <ATen/ops/from_blob.h>
#include <ATen/ops/zeros.h>
#include <ATen/ops/zeros_like.h>
#include <fmt/format.h>
#include <torch/csrc/autograd/autograd.h>

#include "kernels/networks/network_definition.hpp"
#include "kernels/networks/parameter_layout.hpp"
#include "kernels/training/batch_statistics.hpp"
#include "sim/base/check.hpp"
#include "sim/base/diagnostic.hpp"

namespace paceline::kernels {
namespace {

// LibTorch reads the batch in place; from_blob has no const form.
at::Tensor as_images(std::span<const float> pixels, std::span<const std::int64_t> labels) {
  const auto batch = static_cast<std::int64_t>(labels.size());
  check(batch > 0, "a batch has samples");
  check(static_cast<std::int64_t>(pixels.size()) == batch * image_values, "one image for each label");
  return at::from_blob(const_cast<float*>(pixels.data()), {batch, image_channels, image_size, image_size});
}

at::Tensor as_labels(std::span<const std::int64_t> labels) {
  return at::from_blob(const_cast<std::int64_t*>(labels.data()), {static_cast<std::int64_t>(labels.size())},
                       at::kLong);
}

}  // namespace

struct Network::State {
  State(const NetworkDefinition& network, std::int64_t class_count)
      : definition(network),
        classes(class_count),
        declarations(declare(network, class_count)),
        parameters(at::zeros({total_size(declarations)})),
        gradient(at::zeros({total_size(declarations)})),
        parameter_views(views_of(parameters, declarations)),
        gradient_views(views_of(gradient, declarations)) {
    for (at::Tensor& view : parameter_views) view.requires_grad_(true);
    std::int64_t count = 0;
    for (const std::int64_t layer : channels) count += 2 * layer;
    batch_statistics = at::zeros({count});
  }

  at::Tensor logits(std::span<const float> pixels, std::span<const std::int64_t> labels,
                    const at::Tensor& statistics, bool training) {
    ServingSource parameters_in_order(parameter_views);
    StatisticsSource source(parameters_in_order, statistics, training);
    return definition.forward(source, as_images(pixels, labels), classes);
  }

  BatchScore score(const at::Tensor& logits, std::span<const std::int64_t> labels) {
    const at::Tensor truth = as_labels(labels);
    const double mean_loss = at::cross_entropy_loss(logits, truth).item<double>();
    return {.loss_sum = mean_loss * static_cast<double>(labels.size()),
            .correct = logits.argmax(1).eq(truth).sum().item<std::int64_t>()};
  }

  const NetworkDefinition& definition;
  std::int64_t classes;
  std::vector<ParameterDeclaration> declarations;
  at::Tensor parameters;
  at::Tensor gradient;
  std::vector<at::Tensor> parameter_views;
  std::vector<at::Tensor> gradient_views;
  std::vector<std::int64_t> channels = normalized_channels(definition, classes);
  at::Tensor batch_statistics;
};

Network::Network(const std::string& name, std::int64_t classes) {
  const NetworkDefinition& definition = find_network(name);
  const auto* image = std::get_if<ImageInput>(&definition.input);
  if (image == nullptr || image->size != image_size)
    throw UserError(
        fmt::format("network `{}` cannot learn here: it does not take {}x{} images", name, image_size,
                    image_size),
        "its profile serves simulations without a network learner; learn with a network for CIFAR");
  check(classes >= 2, "a classifier tells at least two classes apart");
  state_ = std::make_unique<State>(definition, classes);
}
Network::~Network() = default;
Network::Network(Network&&) noexcept = default;
Network& Network::operator=(Network&&) noexcept = default;

std::int64_t Network::parameter_count() const {
  return state_->parameters.numel();
}

std::span<float> Network::parameters() {
  return {state_->parameters.data_ptr<float>(), static_cast<std::size_t>(parameter_count())};
}

std::span<const float> Network::gradient() const {
  return {state_->gradient.data_ptr<float>(), static_cast<std::size_t>(parameter_count())};
}

double Network::forward_backward(std::span<const float> pixels, std::span<const std::int64_t> labels) {
  state_->batch_statistics.zero_();  // what is not finite would stay: 0 · ∞
  const at::Tensor loss = at::cross_entropy_loss(
      state_->logits(pixels, labels, state_->batch_statistics, /*training=*/true), as_labels(labels));
  const std::vector<at::Tensor> gradients = torch::autograd::grad({loss}, state_->parameter_views);
  const at::NoGradGuard no_gradient;
  for (std::size_t i = 0; i < gradients.size(); ++i) state_->gradient_views[i].copy_(gradients[i]);
  return loss.item<double>();
}

BatchScore Network::score(std::span<const float> pixels, std::span<const std::int64_t> labels) {
  const at::NoGradGuard no_gradient;
  const at::Tensor left_by_this_batch = at::zeros_like(state_->batch_statistics);
  return state_->score(state_->logits(pixels, labels, left_by_this_batch, /*training=*/true), labels);
}

BatchScore Network::score(std::span<const float> pixels, std::span<const std::int64_t> labels,
                          std::span<const float> statistics) {
  check(statistics.size() == batch_statistics().size(), "one mean and one variance for each channel");
  const at::NoGradGuard no_gradient;
  const at::Tensor given =
      at::from_blob(const_cast<float*>(statistics.data()), {static_cast<std::int64_t>(statistics.size())});
  return state_->score(state_->logits(pixels, labels, given, /*training=*/false), labels);
}

std::span<const float> Network::batch_statistics() const {
  return {state_->batch_statistics.data_ptr<float>(),
          static_cast<std::size_t>(state_->batch_statistics.numel())};
}

std::vector<float> Network::initial_batch_statistics() const {
  std::vector<float> statistics;
  for (const std::int64_t layer : state_->channels) {
    statistics.insert(statistics.end(), static_cast<std::size_t>(layer), 0.0F);
    statistics.insert(statistics.end(), static_cast<std::size_t>(layer), 1.0F);
  }
  return statistics;
}

void Network::initialize(std::span<float> parameters, Seed seed) const {
  check(static_cast<std::int64_t>(parameters.size()) == parameter_count(), "one value for each parameter");
  auto position = parameters.begin();
  std::uint32_t tensor = 0;
  for (const ParameterDeclaration& declaration : state_->declarations) {
    RandomStream stream(seed, Purpose::parameter_initialization, tensor++);
    const bool constant = declaration.initial_standard_deviation == 0.0;
    position = std::generate_n(position, size_of(declaration), [&] {
      return static_cast<float>(
          constant ? declaration.initial_mean
                   : stream.normal(declaration.initial_mean, declaration.initial_standard_deviation));
    });
  }
}

}  // namespace paceline::kernels

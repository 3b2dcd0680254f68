#include "kernels/networks/flat_network.hpp"

#include <algorithm>
#include <functional>
#include <numeric>
#include <optional>

#include <ATen/core/grad_mode.h>
#include <ATen/ops/from_blob.h>
#include <ATen/ops/zeros.h>
#include <torch/csrc/autograd/autograd.h>

namespace paceline::kernels {
namespace {

// Notes what is asked for.
class RecordingSource final : public ParameterSource {
 public:
  explicit RecordingSource(FlatNetwork& network) : network_(network) {}
  at::Tensor next(const ParameterDeclaration& declaration) override {
    network_.declarations.push_back(declaration);
    return at::zeros(declaration.shape);
  }
  BatchStatistics statistics(std::int64_t channels) override {
    network_.normalized_channels.push_back(channels);
    return {};
  }

 private:
  FlatNetwork& network_;
};

// Hands out what there is, in order.
class ServingSource final : public ParameterSource {
 public:
  ServingSource(const std::vector<at::Tensor>& parameters, const at::Tensor& statistics, bool training)
      : parameters_(parameters), statistics_(statistics), training_(training) {}
  at::Tensor next(const ParameterDeclaration&) override { return parameters_.at(next_++); }
  BatchStatistics statistics(std::int64_t channels) override {
    if (!statistics_.defined()) return {};
    const std::int64_t first = position_;
    position_ += 2 * channels;
    return {.mean = statistics_.slice(0, first, first + channels),
            .variance = statistics_.slice(0, first + channels, position_),
            .training = training_};
  }

 private:
  const std::vector<at::Tensor>& parameters_;
  const at::Tensor& statistics_;
  bool training_;
  std::size_t next_ = 0;
  std::int64_t position_ = 0;
};

at::Tensor zero_sample(const NetworkInput& input) {
  const bool is_tokens = std::holds_alternative<TokenInput>(input);
  return at::zeros(shape_of(input), is_tokens ? at::kLong : at::kFloat).unsqueeze(0);
}

}  // namespace

FlatNetwork::FlatNetwork(const NetworkDefinition& network, std::int64_t class_count)
    : definition(network), classes(class_count) {
  {
    const at::NoGradGuard no_gradient;
    RecordingSource source(*this);
    static_cast<void>(definition.forward(source, zero_sample(definition.input), classes));
  }
  std::int64_t size = 0;
  for (const ParameterDeclaration& declaration : declarations) size += size_of(declaration);
  parameters = at::zeros({size});
  float* position = parameters.data_ptr<float>();
  for (const ParameterDeclaration& declaration : declarations) {
    views.push_back(at::from_blob(position, declaration.shape));
    views.back().requires_grad_(true);
    position += size_of(declaration);
  }
}

at::Tensor FlatNetwork::logits(const at::Tensor& input, const at::Tensor& statistics, bool training) const {
  ServingSource source(views, statistics, training);
  return definition.forward(source, input, classes);
}

std::int64_t size_of(const ParameterDeclaration& declaration) {
  return std::accumulate(declaration.shape.begin(), declaration.shape.end(), std::int64_t{1},
                         std::multiplies<>());
}

void write_gradient(const at::Tensor& loss, const std::vector<at::Tensor>& parameters,
                    std::span<float> gradient) {
  const std::vector<at::Tensor> gradients =
      torch::autograd::grad({loss}, parameters, {}, /*retain_graph=*/false, /*create_graph=*/false,
                            /*allow_unused=*/true);
  auto position = gradient.begin();
  for (std::size_t i = 0; i < gradients.size(); ++i) {
    const std::int64_t size = parameters[i].numel();
    if (gradients[i].defined()) std::copy_n(gradients[i].contiguous().data_ptr<float>(), size, position);
    position += size;
  }
}

std::vector<double> times_of_gradients(const at::Tensor& loss, const std::vector<at::Tensor>& parameters,
                                       const std::function<double()>& now) {
  std::vector<std::optional<double>> seen(parameters.size());
  std::vector<unsigned> hooks;
  for (std::size_t i = 0; i < parameters.size(); ++i)
    hooks.push_back(parameters[i].register_hook([&seen, &now, i](const at::Tensor&) { seen[i] = now(); }));
  torch::autograd::backward({loss});
  const double end = now();
  std::vector<double> times;
  for (std::size_t i = 0; i < parameters.size(); ++i) {
    times.push_back(seen[i].value_or(end));
    parameters[i].remove_hook(hooks[i]);
    parameters[i].mutable_grad().reset();
  }
  return times;
}

}  // namespace paceline::kernels

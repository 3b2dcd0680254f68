#include "kernels/networks/layers.hpp"

#include <cmath>

#include <ATen/ops/batch_norm.h>
#include <ATen/ops/conv2d.h>
#include <ATen/ops/layer_norm.h>
#include <ATen/ops/linear.h>

namespace paceline::kernels {
namespace {

at::Tensor kaiming_weight(ParameterSource& parameters, std::vector<std::int64_t> shape, std::int64_t fan_in) {
  return parameters.next({.shape = std::move(shape),
                          .initial_mean = 0.0,
                          .initial_standard_deviation = std::sqrt(2.0 / static_cast<double>(fan_in))});
}

at::Tensor constant(ParameterSource& parameters, std::int64_t size, double value) {
  return parameters.next({.shape = {size}, .initial_mean = value, .initial_standard_deviation = 0.0});
}

}  // namespace

at::Tensor convolution(ParameterSource& parameters, const at::Tensor& input, const ConvolutionShape& shape) {
  const std::int64_t input_channels = input.size(1);
  const at::Tensor weight =
      kaiming_weight(parameters, {shape.channels, input_channels, shape.kernel, shape.kernel},
                     input_channels * shape.kernel * shape.kernel);
  const at::Tensor bias = shape.with_bias ? constant(parameters, shape.channels, 0.0) : at::Tensor{};
  return at::conv2d(input, weight, bias, {shape.stride, shape.stride}, {shape.padding, shape.padding});
}

at::Tensor linear(ParameterSource& parameters, const at::Tensor& input, std::int64_t output_features) {
  const std::int64_t input_features = input.size(-1);
  const at::Tensor weight = kaiming_weight(parameters, {output_features, input_features}, input_features);
  return at::linear(input, weight, constant(parameters, output_features, 0.0));
}

at::Tensor batch_normalization(ParameterSource& parameters, const at::Tensor& input) {
  constexpr double whole_batch = 1.0;  // this batch replaces what was left by the one before
  constexpr double epsilon = 1e-5;
  const at::Tensor scale = constant(parameters, input.size(1), 1.0);
  const at::Tensor shift = constant(parameters, input.size(1), 0.0);
  const BatchStatistics statistics = parameters.statistics(input.size(1));
  return at::batch_norm(input, scale, shift, statistics.mean, statistics.variance, statistics.training,
                        whole_batch, epsilon, /*cudnn_enabled=*/false);
}

at::Tensor layer_normalization(ParameterSource& parameters, const at::Tensor& input) {
  const std::int64_t features = input.size(-1);
  const at::Tensor scale = constant(parameters, features, 1.0);
  return at::layer_norm(input, {features}, scale, constant(parameters, features, 0.0));
}

at::Tensor embedding_table(ParameterSource& parameters, std::int64_t rows, std::int64_t features) {
  return parameters.next(
      {.shape = {rows, features}, .initial_mean = 0.0, .initial_standard_deviation = 0.02});
}

}  // namespace paceline::kernels

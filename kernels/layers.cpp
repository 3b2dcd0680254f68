#include "kernels/layers.hpp"

#include <cmath>

#include <ATen/ops/batch_norm.h>
#include <ATen/ops/conv2d.h>
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

at::Tensor convolution(ParameterSource& parameters, const at::Tensor& input, std::int64_t output_channels,
                       std::int64_t stride, bool with_bias) {
  const std::int64_t input_channels = input.size(1);
  const at::Tensor weight =
      kaiming_weight(parameters, {output_channels, input_channels, 3, 3}, input_channels * 9);
  const at::Tensor bias = with_bias ? constant(parameters, output_channels, 0.0) : at::Tensor{};
  return at::conv2d(input, weight, bias, {stride, stride}, {1, 1});
}

at::Tensor linear(ParameterSource& parameters, const at::Tensor& input, std::int64_t output_features) {
  const std::int64_t input_features = input.size(1);
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

}  // namespace paceline::kernels

// The layers the networks are made of, with Kaiming-normal initial weights.
//
// Equation:    weight ~ N(0, sqrt(2 / fan_in)), fan_in = inputs of one output value; bias 0; batch-norm scale 1.
// Source:      He et al., "Delving deep into rectifiers", ICCV 2015.
#pragma once

#include <cstdint>

#include <ATen/core/Tensor.h>

#include "kernels/network_definition.hpp"

namespace paceline::kernels {

// 3x3, padded by 1 so that stride 1 keeps the size and stride 2 halves it.
at::Tensor convolution(ParameterSource& parameters, const at::Tensor& input, std::int64_t output_channels,
                       std::int64_t stride, bool with_bias);
at::Tensor linear(ParameterSource& parameters, const at::Tensor& input, std::int64_t output_features);
// Normalizes each channel by mean and variance (batch_statistics.hpp), then scales and shifts.
at::Tensor batch_normalization(ParameterSource& parameters, const at::Tensor& input);

}  // namespace paceline::kernels

// The layers the networks are made of, with Kaiming-normal initial weights.
//
// Equation:    weight ~ N(0, sqrt(2 / fan_in)), fan_in = inputs of one output value; bias 0; scales 1, shifts
//              0. Embeddings ~ N(0, 0.02), as in GPT-2.
// Source:      He et al., "Delving deep into rectifiers", ICCV 2015; Radford et al., "Language models are
//              unsupervised multitask learners", 2019.
#pragma once

#include <cstdint>

#include <ATen/core/Tensor.h>

#include "kernels/networks/network_definition.hpp"

namespace paceline::kernels {

// 3x3 unless told otherwise, padded by 1 so that stride 1 keeps the size and stride 2 halves it.
struct ConvolutionShape {
  std::int64_t channels = 1;  // of the output
  std::int64_t kernel = 3;
  std::int64_t stride = 1;
  std::int64_t padding = 1;
  bool with_bias = false;
};
at::Tensor convolution(ParameterSource& parameters, const at::Tensor& input, const ConvolutionShape& shape);
at::Tensor linear(ParameterSource& parameters, const at::Tensor& input, std::int64_t output_features);
// Normalizes each channel by mean and variance (flat_network.hpp), then scales and shifts.
at::Tensor batch_normalization(ParameterSource& parameters, const at::Tensor& input);
// Normalizes the last dimension, then scales and shifts.
at::Tensor layer_normalization(ParameterSource& parameters, const at::Tensor& input);
// A table of `rows` vectors.
at::Tensor embedding_table(ParameterSource& parameters, std::int64_t rows, std::int64_t features);

}  // namespace paceline::kernels

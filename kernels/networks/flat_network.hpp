// A network with its parameters as one flat vector, in the order in which its definition asks for them.
//
// Models:      what the batch-normalization layers see and use is one flat vector too: for each layer the
//              means of its channels, then their variances.
// Equation:    training:   y = scale · (x − mean(batch)) / √(variance(batch) + ε) + shift; the layer leaves
//                          mean(batch) and the unbiased variance(batch) in its place of the vector
//              evaluation: the same with the mean and variance found in the vector
// Assumptions: statistics never reach a gradient of another batch: training normalizes with the batch at
//              hand. What is averaged over batches and workers is decided in
//              sim/learning/batch_norm_averages.hpp.
//
// Includes LibTorch: only for the sources that compute.
#pragma once

#include <cstdint>
#include <functional>
#include <span>
#include <vector>

#include <ATen/core/Tensor.h>

#include "kernels/networks/network_definition.hpp"

namespace paceline::kernels {

// Runs the definition once, on one sample of zeros, to see what it asks for. The parameters are zero.
struct FlatNetwork {
  FlatNetwork(const NetworkDefinition& network, std::int64_t class_count);

  // `statistics` undefined: every layer normalizes with the batch at hand.
  [[nodiscard]] at::Tensor logits(const at::Tensor& input, const at::Tensor& statistics, bool training) const;

  const NetworkDefinition& definition;
  std::int64_t classes;
  std::vector<ParameterDeclaration> declarations = {};
  std::vector<std::int64_t> normalized_channels = {};  // of each batch-normalization layer
  at::Tensor parameters = {};
  std::vector<at::Tensor> views = {};  // of the parameters, with gradients required
};

[[nodiscard]] std::int64_t size_of(const ParameterDeclaration& declaration);

// The gradients of a loss, one after the other; of what it does not depend on, the present values stay.
void write_gradient(const at::Tensor& loss, const std::vector<at::Tensor>& parameters,
                    std::span<float> gradient);
// The backward pass for its times alone: now() when each gradient was there; at its end of one that the loss
// does not depend on.
[[nodiscard]] std::vector<double> times_of_gradients(const at::Tensor& loss,
                                                     const std::vector<at::Tensor>& parameters,
                                                     const std::function<double()>& now);

}  // namespace paceline::kernels

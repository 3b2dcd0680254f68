// What the batch-normalization layers of a network see and use, as one flat vector: for each layer the means
// of its channels, then their variances.
//
// Equation:    training:   y = scale · (x − mean(batch)) / √(variance(batch) + ε) + shift; the layer leaves
//                          mean(batch) and the unbiased variance(batch) in its place of the vector
//              evaluation: the same with the mean and variance found in the vector
// Assumptions: statistics never reach a gradient of another batch: training normalizes with the batch at
//              hand. What is averaged over batches and workers is decided in
//              sim/learning/batch_norm_averages.hpp.
//
// Includes LibTorch: only for network.cpp.
#pragma once

#include <cstdint>
#include <vector>

#include <ATen/core/Tensor.h>

#include "kernels/networks/network_definition.hpp"

namespace paceline::kernels {

// The channels of each batch-normalization layer, in the order of the forward function.
[[nodiscard]] std::vector<std::int64_t> normalized_channels(const NetworkDefinition& definition,
                                                            std::int64_t classes);

// Parameters from elsewhere, statistics from a flat vector.
class StatisticsSource final : public ParameterSource {
 public:
  StatisticsSource(ParameterSource& parameters, const at::Tensor& statistics, bool training)
      : parameters_(parameters), statistics_(statistics), training_(training) {}
  at::Tensor next(const ParameterDeclaration& declaration) override { return parameters_.next(declaration); }
  BatchStatistics statistics(std::int64_t channels) override;

 private:
  ParameterSource& parameters_;
  const at::Tensor& statistics_;
  bool training_;
  std::int64_t position_ = 0;
};

}  // namespace paceline::kernels

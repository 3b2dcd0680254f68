// How a network is written down: one forward function that asks for its parameters in order.
//
// Models:      a classifier of 3x32x32 images. The same function is run once to *declare* its parameters (their
//              shapes and initial distributions are recorded) and then, for every batch, to *use* them; so the
//              list of parameters can never disagree with the computation.
// Assumptions: every path asks for the same parameters in the same order; no state outlives a call: what
//              batch normalization has seen is handed out, and averaged by the caller (batch_statistics.hpp).
// Not modelled: dropout, data augmentation.
//
// Includes LibTorch: only for the files that define networks and for network.cpp.
#pragma once

#include <cstdint>
#include <span>
#include <string_view>
#include <vector>

#include <ATen/core/Tensor.h>

namespace paceline::kernels {

// Initial values are drawn from a normal distribution; a standard deviation of 0 means the constant `mean`.
struct ParameterDeclaration {
  std::vector<std::int64_t> shape;
  double initial_mean = 0.0;
  double initial_standard_deviation = 0.0;
};

// Where one batch-normalization layer leaves what it saw (training) or finds what it normalizes with (evaluation).
// Undefined: it normalizes with the batch at hand and leaves nothing.
struct BatchStatistics {
  at::Tensor mean;
  at::Tensor variance;
  bool training = true;
};

class ParameterSource {
 public:
  ParameterSource() = default;
  ParameterSource(const ParameterSource&) = delete;
  ParameterSource& operator=(const ParameterSource&) = delete;
  virtual ~ParameterSource() = default;
  virtual at::Tensor next(const ParameterDeclaration& declaration) = 0;
  virtual BatchStatistics statistics(std::int64_t /*channels*/) { return {}; }
};

// images {batch, 3, 32, 32} -> logits {batch, classes}
using ForwardFunction = at::Tensor (*)(ParameterSource& parameters, at::Tensor images, std::int64_t classes);

struct NetworkDefinition {
  std::string_view name;
  std::string_view description;
  ForwardFunction forward;
};

// All networks, in the order they are listed to the user.
[[nodiscard]] std::span<const NetworkDefinition> network_registry();

at::Tensor mlp(ParameterSource& parameters, at::Tensor images, std::int64_t classes);
at::Tensor small_cnn(ParameterSource& parameters, at::Tensor images, std::int64_t classes);
at::Tensor resnet20(ParameterSource& parameters, at::Tensor images, std::int64_t classes);
at::Tensor resnet32(ParameterSource& parameters, at::Tensor images, std::int64_t classes);

}  // namespace paceline::kernels

// How a network is written down: one forward function that asks for its parameters in order.
//
// Models:      a classifier of images, or of the next token at every place of a text. The same function is
//              run once to *declare* its parameters (their shapes and initial distributions are recorded) and
//              then, for every batch, to *use* them; so the list of parameters can never disagree with the
//              computation.
// Assumptions: every path asks for the same parameters in the same order; no state outlives a call: what
//              batch normalization has seen is handed out, and averaged by the caller (flat_network.hpp).
// Not modelled: dropout, data augmentation.
//
// Includes LibTorch: only for the files that define networks, flat_network and what uses them.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

#include <ATen/core/Tensor.h>

namespace paceline::kernels {

// Initial values are drawn from a normal distribution; a standard deviation of 0 means the constant `mean`.
struct ParameterDeclaration {
  std::vector<std::int64_t> shape;
  double initial_mean = 0.0;
  double initial_standard_deviation = 0.0;
};

// Where one batch-normalization layer leaves what it saw (training) or finds what it normalizes with
// (evaluation). Undefined: it normalizes with the batch at hand and leaves nothing.
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
  virtual BatchStatistics statistics(std::int64_t channels) = 0;
};

// One sample: 3 colours of size·size pixels …
struct ImageInput {
  std::int64_t size = 32;
};
// … or this many tokens, each predicting the next.
struct TokenInput {
  std::int64_t length = 64;
};
using NetworkInput = std::variant<ImageInput, TokenInput>;
// {channels, height, width} or {tokens}.
[[nodiscard]] std::vector<std::int64_t> shape_of(const NetworkInput& input);

// images {batch, 3, size, size} -> logits {batch, classes}
// tokens {batch, length} (64-bit integers) -> logits {batch · length, classes}
using ForwardFunction = at::Tensor (*)(ParameterSource& parameters, at::Tensor input, std::int64_t classes);

struct NetworkDefinition {
  std::string_view name;
  std::string_view description;
  ForwardFunction forward;
  NetworkInput input = ImageInput{};
  std::int64_t classes = 10;  // or the size of the vocabulary
};

inline constexpr ImageInput imagenet_images{224};
inline constexpr std::int64_t imagenet_classes = 1000;

// The networks, each file's in a table of its own.
[[nodiscard]] std::span<const NetworkDefinition> plain_networks();
[[nodiscard]] std::span<const NetworkDefinition> residual_networks();
[[nodiscard]] std::span<const NetworkDefinition> transformers();

// All of them, in the order they are listed to the user.
[[nodiscard]] const std::vector<NetworkDefinition>& network_registry();
// Throws UserError naming the closest network when there is none of this name.
[[nodiscard]] const NetworkDefinition& find_network(const std::string& name);

}  // namespace paceline::kernels

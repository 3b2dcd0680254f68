// Transformers that predict the next token, in the form of GPT-2: normalization before each part, learned
// positions, output weights shared with the token embedding. Dropout is left out.
// Source: Radford et al., "Language models are unsupervised multitask learners", 2019, and its released code.
#include <array>
#include <cmath>
#include <limits>

#include <ATen/core/Tensor.h>
#include <ATen/ops/add.h>
#include <ATen/ops/embedding.h>
#include <ATen/ops/full.h>
#include <ATen/ops/gelu.h>
#include <ATen/ops/linear.h>
#include <ATen/ops/matmul.h>
#include <ATen/ops/softmax.h>

#include "kernels/networks/layers.hpp"

namespace paceline::kernels {
namespace {

struct GptShape {
  std::int64_t layers;
  std::int64_t features;
  std::int64_t heads;
  std::int64_t positions;
};

// {batch, length, features} -> {batch, heads, length, features/heads}
at::Tensor by_head(const at::Tensor& x, std::int64_t heads) {
  return x.view({x.size(0), x.size(1), heads, x.size(2) / heads}).transpose(1, 2);
}

at::Tensor attention(ParameterSource& parameters, const at::Tensor& x, const GptShape& shape,
                     const at::Tensor& mask) {
  const std::vector<at::Tensor> parts = linear(parameters, x, 3 * shape.features).split(shape.features, 2);
  const at::Tensor query = by_head(parts[0], shape.heads);
  const at::Tensor key = by_head(parts[1], shape.heads);
  const double scale = 1.0 / std::sqrt(static_cast<double>(shape.features / shape.heads));
  const at::Tensor scores = at::add(mask, at::matmul(query, key.transpose(2, 3)), scale);
  const at::Tensor mixed = at::matmul(at::softmax(scores, -1), by_head(parts[2], shape.heads));
  return linear(parameters, mixed.transpose(1, 2).reshape(x.sizes()), shape.features);
}

template <GptShape shape>
at::Tensor gpt(ParameterSource& parameters, at::Tensor tokens, std::int64_t vocabulary) {
  const std::int64_t length = tokens.size(1);
  const at::Tensor token_table = embedding_table(parameters, vocabulary, shape.features);
  const at::Tensor position_table = embedding_table(parameters, shape.positions, shape.features);
  // A place sees itself and what came before.
  const at::Tensor mask = at::full({length, length}, -std::numeric_limits<float>::infinity()).triu(1);
  at::Tensor x = at::add(at::embedding(token_table, tokens), position_table.slice(0, 0, length));
  for (std::int64_t layer = 0; layer < shape.layers; ++layer) {
    x = at::add(x, attention(parameters, layer_normalization(parameters, x), shape, mask));
    const at::Tensor inner = linear(parameters, layer_normalization(parameters, x), 4 * shape.features);
    x = at::add(x, linear(parameters, at::gelu(inner, "tanh"), shape.features));
  }
  return at::linear(layer_normalization(parameters, x), token_table).view({-1, vocabulary});
}

constexpr std::array transformer_table{
    NetworkDefinition{"small-gpt", "transformer of 4 layers and 128 features over 64 bytes of text",
                      gpt<{.layers = 4, .features = 128, .heads = 4, .positions = 64}>, TokenInput{64}, 256},
    NetworkDefinition{
        "gpt2-small", "GPT-2 of 12 layers and 768 features over 64 tokens (Radford et al. 2019)",
        gpt<{.layers = 12, .features = 768, .heads = 12, .positions = 1024}>, TokenInput{64}, 50257},
};

}  // namespace

std::span<const NetworkDefinition> transformers() {
  return transformer_table;
}

}  // namespace paceline::kernels

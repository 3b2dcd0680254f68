// A network as calibration and the network learner see it: something that turns a batch into logits, its
// parameters in one flat vector, and what its normalization layers see in another (flat_network.hpp).
//
// Includes LibTorch: only for the sources that compute.
#pragma once

#include <cstdint>
#include <memory>
#include <span>
#include <vector>

#include <ATen/core/Tensor.h>

#include "kernels/interface/training_step.hpp"
#include "sim/base/random.hpp"

namespace paceline::kernels {

class MeasuredModel {
 public:
  MeasuredModel() = default;
  MeasuredModel(const MeasuredModel&) = delete;
  MeasuredModel& operator=(const MeasuredModel&) = delete;
  virtual ~MeasuredModel() = default;

  // images {batch, …} or tokens {batch, length} -> logits with one row for each label. Training leaves what
  // was seen in `statistics`, evaluation finds it there; undefined: the batch at hand is all that counts.
  virtual at::Tensor logits(const at::Tensor& input, const at::Tensor& statistics, bool training) = 0;
  at::Tensor logits(const at::Tensor& input) { return logits(input, at::Tensor{}, /*training=*/true); }
  [[nodiscard]] virtual std::vector<float> initial_statistics() = 0;
  virtual void initialize(std::span<float> parameters, Seed seed) const = 0;
  [[nodiscard]] virtual NetworkFacts facts() const = 0;
  // How many numbers each parameter tensor holds, in order of creation.
  [[nodiscard]] std::vector<std::int64_t> variables() const {
    std::vector<std::int64_t> sizes;
    for (const at::Tensor& view : parameter_views) sizes.push_back(view.numel());
    return sizes;
  }

  at::Tensor flat_parameters;               // 32-bit floats
  std::vector<at::Tensor> parameter_views;  // into it, with gradients required
};

// Throws UserError as network_facts() does.
[[nodiscard]] std::unique_ptr<MeasuredModel> load_model(const NetworkChoice& choice);
[[nodiscard]] std::unique_ptr<MeasuredModel> load_torchscript(const NetworkChoice& choice);

}  // namespace paceline::kernels

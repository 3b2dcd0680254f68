// A network as calibration sees it: something that turns a batch into logits, its parameters in one flat
// vector.
//
// Includes LibTorch: only for training_step.cpp and the models themselves.
#pragma once

#include <memory>
#include <vector>

#include <ATen/core/Tensor.h>

#include "kernels/interface/training_step.hpp"

namespace paceline::kernels {

class MeasuredModel {
 public:
  MeasuredModel() = default;
  MeasuredModel(const MeasuredModel&) = delete;
  MeasuredModel& operator=(const MeasuredModel&) = delete;
  virtual ~MeasuredModel() = default;

  // images {batch, …} or tokens {batch, length} -> logits with one row for each label
  virtual at::Tensor logits(const at::Tensor& input) = 0;
  [[nodiscard]] virtual NetworkFacts facts() const = 0;

  at::Tensor flat_parameters;               // 32-bit floats
  std::vector<at::Tensor> parameter_views;  // into it, with gradients required
};

// Throws UserError as network_facts() does.
[[nodiscard]] std::unique_ptr<MeasuredModel> load_model(const NetworkChoice& choice);
[[nodiscard]] std::unique_ptr<MeasuredModel> load_torchscript(const NetworkChoice& choice);

}  // namespace paceline::kernels

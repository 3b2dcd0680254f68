// A step of AdamW on flat float32 arrays.
//
// Models:      Adam with weight decay that does not pass through the moments.
// Equation:    x ← (1 − η·decay)·x;  m ← β₁·m + (1 − β₁)·g;  v ← β₂·v + (1 − β₂)·g²;
//              x ← x − η/(1 − β₁^t) · m / (√v / √(1 − β₂^t) + ε),  t = 1, 2, …
// Assumptions: one thread, in index order: the same numbers on every run.
// Not modelled: AMSGrad.
// Source:      Loshchilov, Hutter, "Decoupled Weight Decay Regularization", ICLR 2019, algorithm 2, as
//              torch.optim.AdamW has it.
#pragma once

#include <cmath>
#include <cstddef>
#include <cstdint>
#include <span>

#include "sim/base/check.hpp"
#include "sim/learning/optimizer.hpp"

namespace paceline {

// The moments m and v of the parameters.
struct AdamMoments {
  std::span<float> mean;
  std::span<float> square;
};

inline void adamw_step(std::span<float> parameters, const AdamMoments& moments,
                       std::span<const float> gradient, std::uint64_t step, double learning_rate,
                       double weight_decay, const AdamW& adamw) {
  const std::size_t size = parameters.size();
  check(moments.mean.size() == size && moments.square.size() == size && gradient.size() == size,
        "parameters, moments and gradient have equal size");
  const auto t = static_cast<double>(step);
  const auto kept = static_cast<float>(1.0 - learning_rate * weight_decay);
  const auto rate = static_cast<float>(learning_rate / (1.0 - std::pow(adamw.beta1, t)));
  const auto scale = static_cast<float>(std::sqrt(1.0 - std::pow(adamw.beta2, t)));
  const auto beta1 = static_cast<float>(adamw.beta1);
  const auto beta2 = static_cast<float>(adamw.beta2);
  const auto epsilon = static_cast<float>(adamw.epsilon);
  for (std::size_t i = 0; i < size; ++i) {
    const float g = gradient[i];
    float& mean = moments.mean[i];
    float& square = moments.square[i];
    mean += (1.0F - beta1) * (g - mean);
    square = beta2 * square + (1.0F - beta2) * g * g;
    parameters[i] = kept * parameters[i] - rate * mean / (std::sqrt(square) / scale + epsilon);
  }
}

}  // namespace paceline

// The optimizer's arithmetic on flat float32 arrays: what a server, or a worker, does with gradients.
//
// Models:      stochastic gradient descent with momentum.
// Equation:    add_weight_decay:    g ← g + weight_decay · x
//              accumulate_gradient: s ← s + weight · g
//              sgd_step:            v ← momentum · v + s;
//                                   x ← x − learning_rate · (nesterov ? s + momentum · v : v)
//              and its two halves, for a velocity that lives elsewhere than the parameters:
//              follow_momentum:     v ← momentum · v + g;  g ← nesterov ? g + momentum · v : v
//              descend:             x ← x − learning_rate · s
//              delayed_nesterov_step: c ← c + d, of N differences already divided by N; with the N-th
//                                   v ← momentum · v + c, c ← 0;
//                                   x ← x − learning_rate · (k · momentum · v + d),
//                                   k = 1 − between · N + between with the N-th, else between
// Assumptions: one thread, in index order: the same numbers on every run.
// Source:      that of parameter_store.hpp; delayed: Liu et al., arXiv 2401.09135, algorithm 3.
#pragma once

#include <cstddef>
#include <span>
#include <utility>

#include "sim/base/check.hpp"
#include "sim/learning/learner.hpp"

namespace paceline {

inline void add_weight_decay(std::span<float> gradient, std::span<const float> parameters,
                             double weight_decay) {
  check(gradient.size() == parameters.size(), "a gradient has one value for each parameter");
  if (weight_decay == 0.0) return;
  const auto decay = static_cast<float>(weight_decay);
  for (std::size_t i = 0; i < gradient.size(); ++i) gradient[i] += decay * parameters[i];
}

inline void accumulate_gradient(std::span<float> sum, std::span<const float> gradient, double weight) {
  check(sum.size() == gradient.size(), "gradients of one network have equal size");
  const auto factor = static_cast<float>(weight);
  for (std::size_t i = 0; i < sum.size(); ++i) sum[i] += factor * gradient[i];
}

inline void sgd_step(std::span<float> parameters, std::span<float> velocity, std::span<const float> sum,
                     const Hyperparameters& hyperparameters, bool nesterov) {
  check(parameters.size() == velocity.size() && parameters.size() == sum.size(),
        "parameters, velocity and gradient have equal size");
  const auto rate = static_cast<float>(hyperparameters.learning_rate);
  const auto momentum = static_cast<float>(hyperparameters.momentum);
  for (std::size_t i = 0; i < parameters.size(); ++i) {
    velocity[i] = momentum * velocity[i] + sum[i];
    const float direction = nesterov ? sum[i] + momentum * velocity[i] : velocity[i];
    parameters[i] -= rate * direction;
  }
}

// The share of a step in a velocity of Nesterov's that moves with every N-th.
struct DelayedShare {
  double every = 1.0;
  double between = 0.0;
  bool moves = false;
};

inline void delayed_nesterov_step(std::span<float> parameters, std::span<float> velocity,
                                  std::span<float> collected, std::span<const float> own,
                                  const Hyperparameters& hyperparameters, const DelayedShare& share) {
  check(parameters.size() == velocity.size() && parameters.size() == collected.size() &&
            parameters.size() == own.size(),
        "parameters, velocity and differences have equal size");
  const auto rate = static_cast<float>(hyperparameters.learning_rate);
  const auto momentum = static_cast<float>(hyperparameters.momentum);
  const auto counted =
      static_cast<float>(share.moves ? 1.0 - share.between * share.every + share.between : share.between);
  for (std::size_t i = 0; i < parameters.size(); ++i) {
    collected[i] += own[i];
    if (share.moves) velocity[i] = momentum * velocity[i] + std::exchange(collected[i], 0.0F);
    parameters[i] -= rate * (counted * momentum * velocity[i] + own[i]);
  }
}

// Turns a gradient into a direction.
inline void follow_momentum(std::span<float> gradient, std::span<float> velocity, double momentum,
                            bool nesterov) {
  check(gradient.size() == velocity.size(), "gradient and velocity have equal size");
  const auto kept = static_cast<float>(momentum);
  for (std::size_t i = 0; i < gradient.size(); ++i) {
    velocity[i] = kept * velocity[i] + gradient[i];
    gradient[i] = nesterov ? gradient[i] + kept * velocity[i] : velocity[i];
  }
}

inline void descend(std::span<float> parameters, std::span<const float> direction, double learning_rate) {
  check(parameters.size() == direction.size(), "a direction has one value for each parameter");
  const auto rate = static_cast<float>(learning_rate);
  for (std::size_t i = 0; i < parameters.size(); ++i) parameters[i] -= rate * direction[i];
}

}  // namespace paceline

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
// Assumptions: one thread, in index order: the same numbers on every run.
// Source:      that of parameter_store.hpp.
#pragma once

#include <span>

#include "sim/learning/learner.hpp"

namespace paceline {

void add_weight_decay(std::span<float> gradient, std::span<const float> parameters, double weight_decay);
void accumulate_gradient(std::span<float> sum, std::span<const float> gradient, double weight);
void sgd_step(std::span<float> parameters, std::span<float> velocity, std::span<const float> sum,
              const Hyperparameters& hyperparameters, bool nesterov);
// Turns a gradient into a direction.
void follow_momentum(std::span<float> gradient, std::span<float> velocity, double momentum, bool nesterov);
void descend(std::span<float> parameters, std::span<const float> direction, double learning_rate);

}  // namespace paceline

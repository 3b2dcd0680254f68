// Training locally and merging rarely: how many steps a worker takes by itself, and what becomes of them.
//
// Models:      a worker takes H steps of its own optimizer on its own copy of the parameters; what it hands
//              over, in place of a gradient, is the difference it made. How differences meet is the policy's
//              and the transport's: under BSP all workers merge together, under ASP each by itself.
// Equation:    worker i:   x_i <- x;  H_i times x_i <- inner step on x_i;  d_i = x - x_i
//              outer step: s = sum of w_i · d_i;  v <- b · v + s;  x <- x - g · (nesterov ? s + b · v : v)
//                g = 1, b = 0 leaves the weighted mean of the x_i (local SGD).
//              buffer:     with `every` = K the server adds K differences up, s is their mean, and x
//                          and its version stay what they are until the K-th.
//              delayed:    with `momentum_every` = N each difference is a step of its own,
//                          x <- x - g · (k · b · v + d/N); the N-th first moves v <- b · v + (mean of
//                          the N), and has k = 1 - c N + c, the others k = c = `momentum_between`
//              H_i:        steps
//                          by speed:       max(floor(steps · min_j t_j / t_i), least), t_j the
//                                          seconds a step took worker j last, before its first one what is
//                                          declared of it
//                          by the rate e:  max(steps, floor((growth / e)^2)), with the inner rate as
//                                          the stretch begins, as if there were no warm-up; growth ends
//                                          where it would lead beyond an equal share of the work left
//              fragments:  of F equal parts of x one is exchanged after every H/F steps, in turn:
//                          after H/F - τ of them d_i = x - x_i on that part starts to travel; after H/F the
//                          outer step has been taken, or is waited for, and on that part
//                          x_i <- (1 - α) x + α x_i
// Units:       steps of one mini-batch each; g and b as those of any optimizer.
// Assumptions: the inner rate and momentum stay what they are when a worker begins. A worker's velocity (or
//              AdamW's moments) is kept from one stretch to the next; the first time it starts with the
//              server's, as replicas of one optimizer would have.
//              What is in a buffer when the job ends is lost.
//              Parts are stretches of the parameters in their order; workers that stream go on together.
// Source:      local SGD: Stich, ICLR 2019 (arXiv 1805.09767); outer momentum: Douillard et al., "DiLoCo",
//              arXiv 2311.08105; steps by speed: Liu et al., arXiv 2401.09135 (dynamic local updates); by the
//              rate: Gu et al., "A Quadratic Synchronization Rule for Distributed Deep Learning", ICLR 2024;
//              buffer: Nguyen et al., "FedBuff", AISTATS 2022; fragments: Douillard et al., "Streaming
//              DiLoCo", arXiv 2501.18512.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <optional>
#include <span>

#include "sim/base/number_type.hpp"

namespace paceline {

struct OuterOptimizer {
  double learning_rate = 1.0;
  double momentum = 0.0;
  bool nesterov = false;
  std::int64_t every = 1;  // differences in an outer step of an asynchronous policy
  // Delayed Nesterov, asynchronous too: the velocity moves with so many differences at once.
  std::int64_t momentum_every = 1;
  double momentum_between = 0.0;  // what steps between count of it
};

// The parameters are exchanged part by part while training goes on.
struct Streaming {
  std::int64_t count = 1;  // of fragments
  std::int64_t delay = 0;  // steps
  double mixing = 0.0;
};

struct LocalTraining {
  std::int64_t steps = 1;
  bool by_speed = false;
  std::int64_t least = 1;          // by speed
  std::optional<double> growth{};  // by the rate
  OuterOptimizer outer{};
  NumberType sent_as = NumberType::fp32;  // differences
  std::optional<Streaming> fragments{};   // absent: all parameters at once, and nobody trains meanwhile

  // Steps of an iteration: until the next exchange.
  [[nodiscard]] std::int64_t steps_between_exchanges() const {
    return fragments ? steps / fragments->count : steps;
  }
};

// Of a worker that needs `own_seconds` for a step, among workers that need `seconds`. A rate that has fallen
// to nothing asks for infinitely many steps: `steps_left` are its share of what there is to do.
[[nodiscard]] inline std::int64_t local_steps(const LocalTraining& local, double learning_rate,
                                              double own_seconds, std::span<const double> seconds,
                                              double steps_left) {
  if (local.growth)
    return std::max(local.steps, static_cast<std::int64_t>(
                                     std::min(steps_left, std::pow(*local.growth / learning_rate, 2.0))));
  if (!local.by_speed) return local.steps_between_exchanges();
  const double fastest = *std::ranges::min_element(seconds);
  // What the division leaves in the last digit must not cost a step: half as fast takes half of them.
  const double share = fastest / own_seconds * (1.0 + 1e-9);
  return std::max(static_cast<std::int64_t>(static_cast<double>(local.steps) * share), local.least);
}

}  // namespace paceline

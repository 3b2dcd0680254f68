// A training job on equal workers with no cost but computing: the coordinator, the ideal executor and a
// NetworkLearner. Measures what a dataset and a network do under BSP and ASP.
//
// Models:      BSP and ASP over a server that takes no time, messages that take none, iterations of mean
//              length 1 with cv 0.1: under ASP a worker pulls at the instant of its own apply, so staleness
//              is W − 1 on average.
// Units:       progress in gradients (one batch of one worker each), so that both are compared at equal
//              samples.
#pragma once

#include <cstdint>
#include <vector>

#include "sim/learning/learner.hpp"
#include "sim/learning/network_learner.hpp"
#include "sim/policy/synchronization/phase.hpp"

namespace paceline::test {

struct EmulationConfig {
  const char* synchronization = "bsp";
  std::uint32_t seed = 1;
  std::uint32_t workers = 8;
  std::int64_t batch_samples = 32;
  Hyperparameters hyperparameters{.learning_rate = 0.02, .momentum = 0.9};
  double weight_decay = 1e-3;
  DatasetSource dataset{.kind = "built-in-images", .path = "", .train_samples = 5000, .test_samples = 1000};
  std::int64_t gradients = 0;       // length of the run
  std::int64_t evaluate_every = 0;  // in gradients
};

struct CurvePoint {
  std::int64_t gradients = 0;
  Evaluation evaluation;
};

// From the untrained network to the end of the run.
[[nodiscard]] std::vector<CurvePoint> emulate_training(const EmulationConfig& config);

struct MeanAndDeviation {
  double mean = 0.0;
  double deviation = 0.0;  // of the sample, n − 1
};

[[nodiscard]] MeanAndDeviation summarize(const std::vector<double>& values);

}  // namespace paceline::test

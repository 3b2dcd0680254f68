// What a scenario says about the optimizer, and the learning rate that follows from it.
//
// Models:      SGD whose learning rate may scale with the gradients combined in one update and drop at
// milestones. Equation:    rate(e, n) = learning_rate · (worker_scaling is linear ? n : 1) ·
// factor^(milestones passed at epoch e),
//              n = gradients combined in the update (W under BSP, 1 under ASP), e = samples applied / dataset
//              samples.
// Units:       the rate is per update; epochs are passes over the training set, counted in samples applied.
// Assumptions: the rate is read when the update is applied.
// Not modelled: warm-up, other scaling rules (a later capability).
// Source:      linear scaling: Sync-Switch's configuration policy (n·η under BSP, η under ASP); Goyal et al.
// 2017.
#pragma once

#include <cstddef>
#include <vector>

namespace paceline {

enum class WorkerScaling { none, linear };

struct LearningRateSchedule {
  std::vector<double> milestone_epochs;  // ascending
  double factor = 0.1;                   // multiplies the rate at each milestone
};

struct OptimizerConfig {
  double learning_rate = 0.1;
  double momentum = 0.0;
  double weight_decay = 0.0;
  bool nesterov = false;
  WorkerScaling worker_scaling = WorkerScaling::none;
  LearningRateSchedule schedule;
};

[[nodiscard]] double learning_rate_at(const OptimizerConfig& optimizer, double epoch,
                                      std::size_t combined_gradients);

}  // namespace paceline

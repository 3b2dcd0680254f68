#include "sim/learning/optimizer.hpp"

#include "sim/base/check.hpp"

namespace paceline {

double learning_rate_at(const OptimizerConfig& optimizer, double epoch, std::size_t combined_gradients) {
  check(combined_gradients >= 1, "an update combines at least one gradient");
  double rate = optimizer.learning_rate;
  if (optimizer.worker_scaling == WorkerScaling::linear) rate *= static_cast<double>(combined_gradients);
  for (const double milestone : optimizer.schedule.milestone_epochs) {
    if (epoch >= milestone) rate *= optimizer.schedule.factor;
  }
  return rate;
}

}  // namespace paceline

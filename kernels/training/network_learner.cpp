#include "kernels/training/network_learner.hpp"

namespace paceline::kernels {

NetworkLearner::NetworkLearner(const NetworkLearnerConfig& config)
    : gradients_(config),
      state_(gradients_.initial_parameters(), gradients_.initial_batch_statistics(), config) {}

void NetworkLearner::compute(WorkerId worker, std::int64_t batch_samples, GradientId gradient) {
  gradients_.compute(worker, batch_samples, state_.copy_of(worker));
  const std::span<const float> values = gradients_.gradient();
  const std::span<const float> statistics = gradients_.batch_statistics();
  state_.hold(worker, gradient, {values.begin(), values.end()}, {statistics.begin(), statistics.end()});
}

}  // namespace paceline::kernels

#include "kernels/training/network_learner.hpp"

namespace paceline::kernels {
namespace {

std::vector<float> copied(std::span<const float> values) {
  return {values.begin(), values.end()};
}

}  // namespace

NetworkLearner::NetworkLearner(const NetworkLearnerConfig& config)
    : gradients_(config),
      state_(gradients_.initial_parameters(), gradients_.initial_batch_statistics(), config) {}

void NetworkLearner::compute(WorkerId worker, std::int64_t batch_samples, GradientId gradient) {
  gradients_.compute(worker, batch_samples, state_.copy_of(worker));
  state_.hold(worker, gradient, copied(gradients_.gradient()), copied(gradients_.batch_statistics()));
}

void NetworkLearner::train_locally(WorkerId worker, std::int64_t batch_samples, std::int64_t steps,
                                   const Hyperparameters& hyperparameters) {
  state_.begin_local_training(worker);
  for (std::int64_t step = 0; step < steps; ++step) {
    gradients_.compute(worker, batch_samples, state_.copy_of(worker));
    state_.step_locally(worker, copied(gradients_.gradient()), hyperparameters);
  }
}

// The averages of batch normalization follow the last batch of each stretch.
void NetworkLearner::hold_difference(WorkerId worker, GradientId gradient,
                                     const DifferenceToSend& difference) {
  state_.hold_difference(worker, gradient, difference, copied(gradients_.batch_statistics()));
}

}  // namespace paceline::kernels

// A learner that really trains: the gradients of a real network on real or generated images, or on generated
// text.
//
// Models:      the parameters, copies and velocities of sim/learning/network_state.hpp, with the gradients of
//              network_gradients.hpp.
// Equation:    those of both.
// Units:       loss in nats, accuracy 0-1; of texts both for each token.
// Assumptions: one compute thread (set by the constructor for the whole process), so that equal calls give
//              bit-identical numbers on one type of CPU. A worker that has not pulled holds the initial
//              parameters. Batch normalization trains with the statistics of the batch and is evaluated with
//              averages (sim/learning/batch_norm_averages.hpp).
// Not modelled: augmentation.
// Source:      docs/models.md, "Learners".
#pragma once

#include <cstdint>
#include <utility>

#include "kernels/training/network_gradients.hpp"
#include "sim/learning/learner.hpp"
#include "sim/learning/network_learner.hpp"
#include "sim/learning/network_state.hpp"

namespace paceline::kernels {

class NetworkLearner final : public Learner {
 public:
  // Throws UserError for an unknown network or unreadable data.
  explicit NetworkLearner(const NetworkLearnerConfig& config);

  void pull(WorkerId worker, ServerId server) override { state_.pull(worker, server); }
  void compute(WorkerId worker, std::int64_t batch_samples, GradientId gradient) override;
  void train_locally(WorkerId worker, std::int64_t batch_samples, std::int64_t steps,
                     const Hyperparameters& hyperparameters) override;
  void hold_difference(WorkerId worker, GradientId gradient, const DifferenceToSend& difference) override;
  void mix(WorkerId worker, ServerId server, const Fragment& fragment, double mixing) override {
    state_.mix(worker, server, fragment, mixing);
  }
  void merge(ServerId server, std::span<const WeightedGradient> differences,
             const OuterStep& outer) override {
    state_.merge(server, differences, outer);
  }
  void apply(ServerId server, std::span<const WeightedGradient> gradients,
             const Hyperparameters& hyperparameters) override {
    state_.apply(server, gradients, hyperparameters);
  }
  void apply_locally(WorkerId worker, GradientId gradient, const Hyperparameters& hyperparameters) override {
    state_.apply_locally(worker, gradient, hyperparameters);
  }
  void overwrite(ServerId server, WorkerId worker) override { state_.overwrite(server, worker); }
  void scale_velocity(double factor) override { state_.scale_velocity(factor); }
  void discard(GradientId gradient) override { state_.discard(gradient); }
  // A loss that is not finite is returned as it is.
  std::optional<Evaluation> evaluate() override {
    return gradients_.evaluate(state_.global(), state_.averages());
  }

  // Goes on from there.
  void adopt(WorkerId worker, Replica replica) { state_.adopt(worker, std::move(replica)); }
  [[nodiscard]] std::span<const float> global_parameters() const { return state_.global(); }
  [[nodiscard]] std::span<const float> gradient(GradientId gradient) const {
    return state_.gradient(gradient);
  }

 private:
  NetworkGradients gradients_;
  NetworkState state_;
};

}  // namespace paceline::kernels

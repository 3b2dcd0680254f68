// What a network that trains consists of, wherever its gradients are computed: the parameters, copies,
// velocities and gradients of parameter_store.hpp, with the averages of batch normalization.
//
// Models:      both, kept in step: a gradient and what its batch looked like are held, applied and discarded
//              together; with several servers the statistics travel with shard 0.
// Equation:    those of parameter_store.hpp and batch_norm_averages.hpp; the newest batch has a share of 0.1
//              in the averages.
// Units:       float32.
// Assumptions: those of both.
// Not modelled: see both.
// Source:      the share is PyTorch's default (`momentum` of torch.nn.BatchNorm2d).
#pragma once

#include <cstdint>
#include <span>
#include <utility>
#include <vector>

#include "sim/learning/batch_norm_averages.hpp"
#include "sim/learning/network_learner.hpp"
#include "sim/learning/parameter_store.hpp"

namespace paceline {

[[nodiscard]] inline ParameterStoreConfig parameter_store_config(const NetworkLearnerConfig& config) {
  return {.worker_count = config.worker_count,
          .server_count = config.server_count,
          .momentum_at = config.momentum_at,
          .nesterov = config.nesterov,
          .weight_decay = config.weight_decay,
          .adamw = config.adamw};
}

// All of it that lasts while no gradient is under way; copies are pulled anew.
struct NetworkCheckpoint {
  std::vector<Replica> replicas;  // one, or one for each worker that has a velocity of its own
  std::vector<std::vector<float>> averages;
};

class NetworkState {
 public:
  NetworkState(std::vector<float> parameters, const std::vector<float>& batch_statistics,
               const NetworkLearnerConfig& config)
      : replicas_(config.momentum_at == MomentumPlace::workers ? config.worker_count : 1),
        store_(std::move(parameters), parameter_store_config(config)),
        averages_(batch_statistics, config.batch_norm, config.worker_count, share_of_newest_batch) {}

  void pull(WorkerId worker, ServerId server) { store_.pull(worker, server); }
  // `mean_gradient` was computed on the worker's copy, on a batch with these statistics.
  void hold(WorkerId worker, GradientId gradient, std::vector<float> mean_gradient,
            std::vector<float> batch_statistics) {
    store_.hold(worker, gradient, std::move(mean_gradient));
    averages_.hold(worker, gradient, std::move(batch_statistics));
  }
  void apply(ServerId server, std::span<const WeightedGradient> gradients,
             const Hyperparameters& hyperparameters) {
    store_.apply(server, gradients, hyperparameters);
    use_averages(server, gradients);
  }
  // A step that workers have taken on their own: what their batches looked like, and what they arrived at.
  void hold_statistics(WorkerId worker, GradientId gradient, std::vector<float> batch_statistics) {
    averages_.hold(worker, gradient, std::move(batch_statistics));
  }
  void use_statistics(GradientId gradient) { averages_.apply(gradient); }
  void discard_statistics(GradientId gradient) { averages_.discard(gradient); }
  void set_copy(WorkerId worker, std::vector<float> parameters) {
    store_.set_copy(worker, std::move(parameters));
  }
  [[nodiscard]] Replica replica_for(WorkerId worker) const { return store_.replica_for(worker); }
  void adopt(WorkerId worker, Replica replica) { store_.adopt(worker, std::move(replica)); }
  [[nodiscard]] NetworkCheckpoint checkpoint() const {
    NetworkCheckpoint state{{}, averages_.all()};
    for (std::uint64_t w = 0; w < replicas_; ++w) state.replicas.push_back(replica_for(WorkerId{w}));
    return state;
  }
  void restore(NetworkCheckpoint state) {
    check(state.replicas.size() == replicas_, "a checkpoint of the same job");
    for (std::uint64_t w = 0; w < replicas_; ++w) adopt(WorkerId{w}, std::move(state.replicas[w]));
    averages_.restore(std::move(state.averages));
  }
  // Local training: begin, steps along gradients computed on the worker's copy, and what came of it.
  void begin_local_training(WorkerId worker) { store_.begin_local_training(worker); }
  void step_locally(WorkerId worker, std::vector<float> mean_gradient,
                    const Hyperparameters& hyperparameters) {
    store_.step_locally(worker, std::move(mean_gradient), hyperparameters);
  }
  void hold_difference(WorkerId worker, GradientId gradient, const DifferenceToSend& difference,
                       std::vector<float> batch_statistics) {
    store_.hold_difference(worker, gradient, difference);
    averages_.hold(worker, gradient, std::move(batch_statistics));
  }
  void merge(ServerId server, std::span<const WeightedGradient> differences, const OuterStep& outer) {
    store_.merge(server, differences, outer);
    use_averages(server, differences);
  }
  void mix(WorkerId worker, ServerId server, const Fragment& fragment, double mixing) {
    store_.mix(worker, server, fragment, mixing);
  }
  void apply_locally(WorkerId worker, GradientId gradient, const Hyperparameters& hyperparameters) {
    store_.apply_locally(worker, gradient, hyperparameters);
    averages_.apply(gradient);
  }
  void overwrite(ServerId server, WorkerId worker) { store_.overwrite(server, worker); }
  void scale_velocity(double factor) { store_.scale_velocity(factor); }
  void discard(GradientId gradient) {
    store_.discard(gradient);
    averages_.discard(gradient);
  }

  [[nodiscard]] std::span<const float> global() const { return store_.global(); }
  [[nodiscard]] std::span<const float> copy_of(WorkerId worker) const { return store_.copy_of(worker); }
  [[nodiscard]] std::span<const float> gradient(GradientId gradient) const {
    return store_.gradient(gradient);
  }
  // What evaluation normalizes with.
  [[nodiscard]] std::vector<float> averages() const { return averages_.global(); }

 private:
  void use_averages(ServerId server, std::span<const WeightedGradient> gradients) {
    if (server != ServerId{0}) return;
    for (const WeightedGradient& entry : gradients) averages_.apply(entry.gradient);
  }

  static constexpr double share_of_newest_batch = 0.1;

  std::uint32_t replicas_;
  ParameterStore store_;
  BatchNormAverages averages_;
};

}  // namespace paceline

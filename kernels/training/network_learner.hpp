// A learner that really trains: the gradients of a real network on real or generated images.
//
// Models:      the parameters, copies and velocities of sim/learning/parameter_store.hpp, with the gradients
//              of a network; per worker one position in its own order of its part of the training set
//              (sim/learning/partition.hpp).
// Equation:    those of parameter_store.hpp. A worker with random stream r reads its part of the training set
//              in passes; pass p is the permutation drawn from the stream (seed, data_order, r, p). Shards
//              follow the order of the streams: the worker with the lowest reads the first. A batch of b
//              takes the next b samples, across the end of a pass if need be, so that a batch of 48 extends a
//              batch of 32.
// Units:       loss in nats, accuracy 0-1.
// Assumptions: one compute thread (set by the constructor for the whole process), so that equal calls give
//              bit-identical numbers on one type of CPU. A worker that has not pulled holds the initial
//              parameters. Batch normalization trains with the statistics of the batch and is evaluated with
//              averages (sim/learning/batch_norm_averages.hpp), in which the newest batch has a share of 0.1.
// Not modelled: augmentation.
// Source:      docs/models.md, "Learners".
#pragma once

#include <cstdint>
#include <vector>

#include "kernels/data/dataset.hpp"
#include "kernels/networks/network.hpp"
#include "sim/learning/batch_norm_averages.hpp"
#include "sim/learning/learner.hpp"
#include "sim/learning/network_learner.hpp"
#include "sim/learning/parameter_store.hpp"

namespace paceline::kernels {

class NetworkLearner final : public Learner {
 public:
  // Throws UserError for an unknown network or unreadable data.
  explicit NetworkLearner(const NetworkLearnerConfig& config);

  void pull(WorkerId worker, ServerId server) override { store_.pull(worker, server); }
  void compute(WorkerId worker, std::int64_t batch_samples, GradientId gradient) override;
  void apply(ServerId server, std::span<const WeightedGradient> gradients,
             const Hyperparameters& hyperparameters) override;
  void apply_locally(WorkerId worker, GradientId gradient, const Hyperparameters& hyperparameters) override;
  void overwrite(ServerId server, WorkerId worker) override { store_.overwrite(server, worker); }
  void scale_velocity(double factor) override { store_.scale_velocity(factor); }
  void discard(GradientId gradient) override;
  // A loss that is not finite is returned as it is.
  std::optional<Evaluation> evaluate() override;

  [[nodiscard]] std::span<const float> global_parameters() const { return store_.global(); }
  [[nodiscard]] std::span<const float> gradient(GradientId gradient) const {
    return store_.gradient(gradient);
  }

 private:
  struct SampleCursor {
    std::vector<std::uint32_t> data;   // what it reads
    std::vector<std::uint32_t> order;  // of the present pass, into `data`
    std::size_t position = 0;
    std::uint64_t next_pass = 0;
  };

  std::vector<std::uint32_t> next_samples(WorkerId worker, std::int64_t batch_samples);

  TrainAndTest data_;
  Network network_;
  Seed seed_;
  std::vector<std::uint32_t> random_streams_;  // by worker
  ParameterStore store_;
  BatchNormAverages averages_;
  std::vector<SampleCursor> cursors_;  // by worker
  Batch batch_;
};

}  // namespace paceline::kernels

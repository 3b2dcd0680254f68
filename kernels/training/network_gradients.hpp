// The part of training that needs the network and the data: gradients and evaluations at given parameters.
//
// Models:      per worker one position in its own order of its part of the training set
//              (sim/learning/partition.hpp); the network, which has no state of its own.
// Equation:    a worker with random stream r reads its part of the training set in passes; pass p is the
//              permutation drawn from the stream (seed, data_order, r, p). Shards follow the order of the
//              streams: the worker with the lowest reads the first. A batch of b takes the next b samples,
//              across the end of a pass if need be, so that a batch of 48 extends a batch of 32.
// Units:       loss in nats, accuracy 0-1.
// Assumptions: one compute thread (set by the constructor for the whole process), so that equal calls give
//              bit-identical numbers on one type of CPU, in a simulation as in a worker process of a live
//              job.
// Not modelled: augmentation.
// Source:      docs/models.md, "Learners".
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "kernels/data/dataset.hpp"
#include "kernels/networks/network.hpp"
#include "sim/learning/learner.hpp"
#include "sim/learning/network_learner.hpp"

namespace paceline::kernels {

class NetworkGradients {
 public:
  // Throws UserError for an unknown network or unreadable data.
  explicit NetworkGradients(const NetworkLearnerConfig& config);

  [[nodiscard]] std::vector<float> initial_parameters() const;
  [[nodiscard]] std::vector<float> initial_batch_statistics() const;

  // The mean gradient, and what batch normalization saw, of the worker's next samples.
  void compute(WorkerId worker, std::int64_t batch_samples, std::span<const float> parameters);
  [[nodiscard]] std::span<const float> gradient() const { return network_.gradient(); }
  [[nodiscard]] std::span<const float> batch_statistics() const { return network_.batch_statistics(); }
  // The worker's next sample is the one after its first `samples`.
  void seek(WorkerId worker, std::uint64_t samples);

  // On the test set; batch normalization with these averages.
  [[nodiscard]] Evaluation evaluate(std::span<const float> parameters, std::span<const float> averages);

 private:
  struct SampleCursor {
    std::vector<std::uint32_t> data;   // what it reads
    std::vector<std::uint32_t> order;  // of the present pass, into `data`
    std::size_t position = 0;
    std::uint64_t next_pass = 0;
  };

  void begin_pass(std::uint64_t worker, std::uint64_t pass);
  std::vector<std::uint32_t> next_samples(WorkerId worker, std::int64_t batch_samples);

  TrainAndTest data_;
  Network network_;
  Seed seed_;
  std::vector<std::uint32_t> random_streams_;  // by worker
  std::vector<SampleCursor> cursors_;          // by worker
  Batch batch_;
};

}  // namespace paceline::kernels

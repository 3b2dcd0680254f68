// The learner of a fitted statistical model: updates in, loss and accuracy out, no network trained.
//
// Models:      a learning form (learning_form.hpp) driven in the order of the updates, plus run effects and evaluation
//              noise (statistical_model.hpp).
// Equation:    staleness of a gradient at one server = versions that server applied between its worker's last pull before
//              `compute` and the application there; with several servers, the mean over them. A gradient reaches the form
//              with the call that applies its last shard, together with the others that this call completes.
// Units:       loss in nats (training cross-entropy of the recorded runs), accuracy 0-1.
// Assumptions: a worker computes on what it pulled last.
// Not modelled: data order; the loss carries no evaluation noise; local steps and parameter exchange (`apply_locally`,
//              `overwrite`), which no recorded run took: a scenario that asks for them is refused.
// Source:      design section 3.
#pragma once

#include <cstdint>
#include <memory>
#include <unordered_map>
#include <vector>

#include "sim/learning/learner.hpp"
#include "sim/learning/statistical_model.hpp"

namespace paceline {

class StatisticalLearner final : public Learner {
 public:
  StatisticalLearner(const StatisticalModel& model, std::uint32_t worker_count, std::uint32_t server_count,
                     Seed seed);

  void pull(WorkerId worker, ServerId server) override;
  void compute(WorkerId worker, std::int64_t batch_samples, GradientId gradient) override;
  void apply(ServerId server, std::span<const WeightedGradient> gradients,
             const Hyperparameters& hyperparameters) override;
  void apply_locally(WorkerId worker, GradientId gradient, const Hyperparameters& hyperparameters) override;
  void overwrite(ServerId server, WorkerId worker) override;
  void scale_velocity(double factor) override;
  void discard(GradientId gradient) override;
  std::optional<Evaluation> evaluate() override;

 private:
  struct Pending {
    double samples = 0.0;
    std::vector<std::uint64_t> versions_read;  // by server
    std::uint32_t shards_applied = 0;
    double staleness_sum = 0.0;
  };

  EvaluationNoise noise_;
  std::unique_ptr<LearningForm> form_;
  RandomStream evaluation_random_;
  std::vector<std::uint64_t> version_;                    // by server
  std::vector<std::vector<std::uint64_t>> version_read_;  // by worker, by server
  std::unordered_map<std::uint64_t, Pending> pending_;    // by gradient; looked up, never iterated
  std::vector<SeenGradient> seen_;                        // kept to spare allocations
};

}  // namespace paceline

// The learner of a fitted statistical model: updates in, loss and accuracy out, no network trained.
//
// Models:      a learning form (learning_form.hpp) driven in the order of the updates, with run effects and
//              evaluation noise (statistical_model.hpp).
// Equation:    a gradient reaches the form with the call that applies its last shard, with the others that
//              this call completes, and with the mean of its staleness over the shards.
// Units:       loss in nats (training cross-entropy of the recorded runs), accuracy 0-1.
// Not modelled: data order; evaluation noise of the loss; local steps and parameter exchange
//              (`apply_locally`, `overwrite`), which no recorded run took: a scenario that asks is refused.
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

  void pull(WorkerId, ServerId) override {}
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
    std::uint32_t shards_applied = 0;
  };

  EvaluationNoise noise_;
  std::unique_ptr<LearningForm> form_;
  RandomStream evaluation_random_;
  std::uint32_t worker_count_;
  std::uint32_t server_count_;
  std::unordered_map<std::uint64_t, Pending> pending_;  // by gradient; looked up, never iterated
  std::vector<SeenGradient> seen_;                      // kept to spare allocations
};

}  // namespace paceline

// The learner of a fitted statistical model: updates in, loss and accuracy out, no network trained.
//
// Models:      a learning form (learning_form.hpp) driven in the order of the updates, plus run effects and evaluation
//              noise (statistical_model.hpp).
// Equation:    staleness of a gradient = versions applied between its worker's last pull before `compute` and its own
//              application.
// Units:       loss in nats (training cross-entropy of the recorded runs), accuracy 0-1.
// Assumptions: a worker computes on what it pulled last.
// Not modelled: data order; the loss carries no evaluation noise.
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
  StatisticalLearner(const StatisticalModel& model, std::uint32_t worker_count, Seed seed);

  void pull(WorkerId worker) override;
  void compute(WorkerId worker, std::int64_t batch_samples, GradientId gradient) override;
  void apply(std::span<const WeightedGradient> gradients, const Hyperparameters& hyperparameters) override;
  void discard(GradientId gradient) override;
  std::optional<Evaluation> evaluate() override;

 private:
  struct Pending {
    double samples = 0.0;
    std::uint64_t version_read = 0;
  };

  EvaluationNoise noise_;
  std::unique_ptr<LearningForm> form_;
  RandomStream evaluation_random_;
  std::uint64_t version_ = 0;
  std::vector<std::uint64_t> version_read_;             // by worker
  std::unordered_map<std::uint64_t, Pending> pending_;  // by gradient; looked up, never iterated
  std::vector<SeenGradient> seen_;                      // kept to spare allocations
};

}  // namespace paceline

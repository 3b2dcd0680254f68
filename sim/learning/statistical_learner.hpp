// The learner of a fitted statistical model: updates in, loss and accuracy out, no network trained.
//
// Models:      a learning form (learning_form.hpp) driven in the order of the updates, with run effects,
//              evaluation noise and one draw of what the fit does not know (statistical_model.hpp).
// Equation:    a gradient reaches the form with the call that applies its last shard, with the others that
//              this call completes, and with the mean of its staleness over the shards.
//              An evaluation is at most what the job would end with, and three deviations of the noise there.
// Units:       loss in nats (training cross-entropy of the recorded runs), accuracy 0-1.
// Not modelled: data order; evaluation noise of the loss; local steps and parameter exchange
//              (`apply_locally`, `overwrite`), which no recorded run took: a scenario that asks is refused.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <memory>
#include <unordered_map>
#include <vector>

#include "sim/base/check.hpp"
#include "sim/learning/learner.hpp"
#include "sim/learning/statistical_model.hpp"

namespace paceline {

class StatisticalLearner final : public Learner {
 public:
  StatisticalLearner(const StatisticalModel& model, std::uint32_t worker_count, std::uint32_t server_count,
                     Seed seed)
      : noise_(model.noise),
        form_(make_run(model, seed)),
        evaluation_random_(seed, Purpose::learning_curve, 2),
        worker_count_(worker_count),
        server_count_(server_count) {
    check(worker_count > 0 && server_count > 0, "a job has workers and a place for its parameters");
  }

  void pull(WorkerId, ServerId) override {}
  void compute(WorkerId worker, std::int64_t batch_samples, GradientId gradient) override {
    check(worker.value < worker_count_, "the worker is one of the job's");
    check(batch_samples > 0, "a batch has samples");
    const Pending pending{static_cast<double>(batch_samples), 0};
    check(pending_.emplace(gradient.value, pending).second, "a gradient is computed once");
  }
  void apply(ServerId server, std::span<const WeightedGradient> gradients,
             const Hyperparameters& hyperparameters) override {
    check(server.value < server_count_, "the server is one of the job's");
    seen_.clear();
    for (const WeightedGradient& weighted : gradients) {
      const auto found = pending_.find(weighted.gradient.value);
      check(found != pending_.end(),
            "a gradient is computed before it is applied, and each shard applied once");
      Pending& pending = found->second;
      if (++pending.shards_applied < server_count_) continue;
      seen_.push_back({pending.samples, weighted.weight, weighted.staleness});
      pending_.erase(found);
    }
    if (!seen_.empty()) form_->advance({seen_, hyperparameters.learning_rate, hyperparameters.momentum});
  }
  void apply_locally(WorkerId, GradientId, const Hyperparameters&) override {
    check(false, "a statistical learner is not used with local steps");
  }
  void overwrite(ServerId, WorkerId) override {
    check(false, "a statistical learner is not used with parameter exchange");
  }
  void scale_velocity(double) override {}  // its forms have no velocity
  void discard(GradientId gradient) override {
    check(pending_.erase(gradient.value) == 1, "a discarded gradient was computed and not applied");
  }
  std::optional<Evaluation> evaluate() override {
    const FormReading reading = form_->read();
    return Evaluation{reading.loss, noise_.evaluated(reading, evaluation_random_)};
  }

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

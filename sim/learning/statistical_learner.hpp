// The learner of a fitted statistical model: updates in, loss and accuracy out, no network trained.
//
// Models:      a learning form (learning_form.hpp) driven in the order of the updates, with run effects,
//              evaluation noise and one draw of what the fit does not know (statistical_model.hpp).
// Equation:    a gradient reaches the form with the call that applies its last shard, with the others that
//              this call completes, and with the mean of its staleness over the shards.
//              An evaluation is at most what the job would end with, and three deviations of the noise there.
//              Differences of H local steps whose mean becomes the parameters are H updates, step by step.
// Units:       loss in nats (training cross-entropy of the recorded runs), accuracy 0-1.
// Assumptions: workers that meet took as many steps each, at one rate.
// Not modelled: data order; evaluation noise of the loss; exchange of parameters (`apply_locally`,
//              `overwrite`) and outer steps other than the mean: a scenario that asks is refused.
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
    check(pending_.emplace(gradient.value, Pending{static_cast<double>(batch_samples)}).second,
          "a gradient is computed once");
  }
  void apply(ServerId server, std::span<const WeightedGradient> gradients,
             const Hyperparameters& hyperparameters) override {
    complete(server, gradients);
    if (completed_.empty()) return;
    seen_.clear();
    for (const Completed& one : completed_) seen_.push_back({one.work.samples, one.weight, one.staleness});
    form_->advance({seen_, hyperparameters.learning_rate, hyperparameters.momentum});
  }
  void train_locally(WorkerId worker, std::int64_t batch_samples, std::int64_t steps,
                     const Hyperparameters& inner) override {
    check(worker.value < worker_count_, "the worker is one of the job's");
    check(batch_samples > 0 && steps > 0, "local steps train on samples");
    trained_.insert_or_assign(worker.value, Pending{static_cast<double>(batch_samples), 0, steps, inner});
  }
  void hold_difference(WorkerId worker, GradientId gradient, const DifferenceToSend& difference) override {
    check(!difference.fragment, "a statistical learner is not used with fragments");
    const auto trained = trained_.extract(worker.value);
    check(!trained.empty(), "a difference is what local steps made");
    check(pending_.emplace(gradient.value, trained.mapped()).second, "a difference is held once");
  }
  void merge(ServerId server, std::span<const WeightedGradient> differences,
             const OuterStep& outer) override {
    check(outer.learning_rate == 1.0 && outer.momentum == 0.0 && outer.buffered == 1,
          "a statistical learner knows the mean of parameters alone");
    complete(server, differences);
    if (completed_.empty()) return;
    const Pending& first = completed_.front().work;
    for (std::int64_t step = 0; step < first.steps; ++step) {
      seen_.clear();
      for (const Completed& one : completed_)
        seen_.push_back({one.work.samples, one.weight, one.staleness, static_cast<double>(step)});
      form_->advance({seen_, first.inner.learning_rate, first.inner.momentum});
    }
  }
  void apply_locally(WorkerId, GradientId, const Hyperparameters&) override {
    check(false, "a statistical learner is not used with exchange of parameters");
  }
  void overwrite(ServerId, WorkerId) override {
    check(false, "a statistical learner is not used with exchange of parameters");
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
  // A gradient, or the difference that local steps made.
  struct Pending {
    double samples = 0.0;  // of one mini-batch
    std::uint32_t shards_applied = 0;
    std::int64_t steps = 1;
    Hyperparameters inner{};  // of local steps
  };
  struct Completed {
    Pending work;
    double weight = 1.0;
    double staleness = 0.0;
  };

  // Those of which this server's shard is the last.
  void complete(ServerId server, std::span<const WeightedGradient> gradients) {
    check(server.value < server_count_, "the server is one of the job's");
    completed_.clear();
    for (const WeightedGradient& weighted : gradients) {
      const auto found = pending_.find(weighted.gradient.value);
      check(found != pending_.end(),
            "a gradient is computed before it is applied, and each shard applied once");
      if (++found->second.shards_applied < server_count_) continue;
      completed_.push_back({found->second, weighted.weight, weighted.staleness});
      pending_.erase(found);
    }
  }

  EvaluationNoise noise_;
  std::unique_ptr<LearningForm> form_;
  RandomStream evaluation_random_;
  std::uint32_t worker_count_;
  std::uint32_t server_count_;
  std::unordered_map<std::uint64_t, Pending> pending_;  // by gradient; looked up, never iterated
  std::unordered_map<std::uint64_t, Pending> trained_;  // by worker; likewise
  std::vector<SeenGradient> seen_;                      // these two kept to spare allocations
  std::vector<Completed> completed_;
};

}  // namespace paceline

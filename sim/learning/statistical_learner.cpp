#include "sim/learning/statistical_learner.hpp"

#include <algorithm>
#include <cmath>
#include <utility>

#include "sim/base/check.hpp"

namespace paceline {

StatisticalLearner::StatisticalLearner(const StatisticalModel& model, std::uint32_t worker_count,
                                       std::uint32_t server_count, Seed seed)
    : noise_(model.noise),
      form_(model.form->make(
          model.values,
          {.classes = model.classes, .effects = draw_run_effects(model.spread, seed), .seed = seed})),
      evaluation_random_(seed, Purpose::learning_curve, 2),
      worker_count_(worker_count),
      server_count_(server_count) {
  check(worker_count > 0 && server_count > 0, "a job has workers and a place for its parameters");
}

void StatisticalLearner::compute(WorkerId worker, std::int64_t batch_samples, GradientId gradient) {
  check(worker.value < worker_count_, "the worker is one of the job's");
  check(batch_samples > 0, "a batch has samples");
  const Pending pending{static_cast<double>(batch_samples), 0};
  check(pending_.emplace(gradient.value, pending).second, "a gradient is computed once");
}

void StatisticalLearner::apply(ServerId server, std::span<const WeightedGradient> gradients,
                               const Hyperparameters& hyperparameters) {
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

void StatisticalLearner::apply_locally(WorkerId, GradientId, const Hyperparameters&) {
  check(false, "a statistical learner is not used with local steps");
}

void StatisticalLearner::overwrite(ServerId, WorkerId) {
  check(false, "a statistical learner is not used with parameter exchange");
}

void StatisticalLearner::scale_velocity(double factor) {
  form_->scale_velocity(factor);
}

void StatisticalLearner::discard(GradientId gradient) {
  check(pending_.erase(gradient.value) == 1, "a discarded gradient was computed and not applied");
}

std::optional<Evaluation> StatisticalLearner::evaluate() {
  const FormReading reading = form_->read();
  // Drawn also after divergence: the draws of later evaluations do not depend on it.
  const double noise = evaluation_random_.normal(0.0, noise_.deviation(reading.fluctuation));
  if (!std::isfinite(reading.loss)) return Evaluation{reading.loss, reading.accuracy};
  return Evaluation{reading.loss, std::clamp(reading.accuracy + noise, 0.0, 1.0)};
}

}  // namespace paceline

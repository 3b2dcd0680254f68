#include "sim/learning/statistical_learner.hpp"

#include <algorithm>
#include <cmath>

#include "sim/base/check.hpp"

namespace paceline {

StatisticalLearner::StatisticalLearner(const StatisticalModel& model, std::uint32_t worker_count, Seed seed)
    : noise_(model.noise),
      form_(model.form->make(
          model.values,
          {.classes = model.classes, .effects = draw_run_effects(model.spread, seed), .seed = seed})),
      evaluation_random_(seed, Purpose::learning_curve, 2),
      version_read_(worker_count, 0) {
  check(worker_count > 0, "a job has workers");
}

void StatisticalLearner::pull(WorkerId worker) {
  check(worker.value < version_read_.size(), "the worker is one of the job's");
  version_read_[worker.value] = version_;
}

void StatisticalLearner::compute(WorkerId worker, std::int64_t batch_samples, GradientId gradient) {
  check(worker.value < version_read_.size(), "the worker is one of the job's");
  check(batch_samples > 0, "a batch has samples");
  const bool is_new =
      pending_
          .emplace(gradient.value, Pending{static_cast<double>(batch_samples), version_read_[worker.value]})
          .second;
  check(is_new, "a gradient is computed once");
}

void StatisticalLearner::apply(std::span<const WeightedGradient> gradients,
                               const Hyperparameters& hyperparameters) {
  seen_.clear();
  for (const WeightedGradient& weighted : gradients) {
    const auto found = pending_.find(weighted.gradient.value);
    check(found != pending_.end(), "a gradient is computed before it is applied, and applied once");
    seen_.push_back(
        {found->second.samples, weighted.weight, static_cast<double>(version_ - found->second.version_read)});
    pending_.erase(found);
  }
  form_->advance({seen_, hyperparameters.learning_rate, hyperparameters.momentum});
  ++version_;
}

void StatisticalLearner::discard(GradientId gradient) {
  check(pending_.erase(gradient.value) == 1, "a discarded gradient was computed and not applied");
}

std::optional<Evaluation> StatisticalLearner::evaluate() {
  const FormReading reading = form_->read();
  // Drawn also after divergence: the draws of later evaluations do not depend on it.
  const double noise = evaluation_random_.normal(0.0, noise_.deviation(reading.heat));
  if (!std::isfinite(reading.loss)) return Evaluation{reading.loss, reading.accuracy};
  return Evaluation{reading.loss, std::clamp(reading.accuracy + noise, 0.0, 1.0)};
}

}  // namespace paceline

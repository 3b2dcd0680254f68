#include "sim/policy/batching/periodic_controller.hpp"

#include <cmath>

namespace paceline {

void describe_period(Visitor& v, double& smoothing, AdjustmentPeriod& adjust_every) {
  v.optional("smoothing", smoothing, Number{above_up_to(0, 1)},
             "weight of the newest iteration time in a moving average");
  v.optional("adjust_every", adjust_every, period(),
             "iterations of every worker, or epochs of the job, between two looks at the times");
}

void describe(Visitor& v, PeriodicParameters& p) {
  v.optional("dead_band", p.dead_band, Number{between(0, 1)},
             "largest change of a batch, as a fraction, up to which all are left alone");
  describe_period(v, p.smoothing, p.adjust_every);
}

PeriodicController::PeriodicController(const BatchingConfig& config, std::span<const WorkerPrior> workers,
                                       double smoothing, const AdjustmentPeriod& adjust_every)
    : bounds_(bounds_of(config, workers)),
      workers_(start_batches(config, workers), smoothing),
      start_(start_batches(config, workers)),
      initial_samples_(config.initial_samples),
      period_(adjust_every) {}

std::optional<Allocation> PeriodicController::on_iteration(WorkerId worker, std::int64_t batch_samples,
                                                           Seconds compute_time) {
  if (!workers_.observe(worker, batch_samples, compute_time)) return std::nullopt;
  note(worker, batch_samples, compute_time);
  if (const auto* every = std::get_if<EveryIterations>(&period_))
    return workers_.all_seen(every->iterations) ? look() : std::nullopt;
  return look_is_due_ && workers_.all_seen(1) ? look() : std::nullopt;
}

std::optional<Allocation> PeriodicController::on_update(std::span<const WorkerId>, double epoch) {
  const auto* every = std::get_if<EveryEpochs>(&period_);
  if (every == nullptr) return std::nullopt;
  const double periods = std::floor(epoch / every->epochs);
  if (periods > periods_done_) look_is_due_ = true;
  periods_done_ = periods;
  return look_is_due_ && workers_.all_seen(1) ? look() : std::nullopt;
}

std::optional<Allocation> PeriodicController::on_leave(WorkerId worker) {
  workers_.set_present(worker, false);
  forget(worker);
  return std::nullopt;
}

void PeriodicController::on_join(WorkerId worker) {
  workers_.set_present(worker, true);
  forget(worker);
}

std::vector<std::size_t> PeriodicController::present() const {
  std::vector<std::size_t> present;
  for (std::size_t k = 0; k < workers_.size(); ++k)
    if (workers_[k].is_present) present.push_back(k);
  return present;
}

std::int64_t PeriodicController::total_of_present() const {
  return initial_samples_ * workers_.present_count();
}

std::vector<BatchBounds> PeriodicController::bounds_of_present() const {
  std::vector<BatchBounds> bounds;
  for (const std::size_t k : present()) bounds.push_back(bounds_[k]);
  return bounds;
}

Allocation PeriodicController::with_absent(const Allocation& of_present) const {
  Allocation allocation = workers_.unchanged();
  std::size_t next = 0;
  for (const std::size_t k : present()) allocation[k] = of_present[next++];
  return allocation;
}

std::optional<Allocation> PeriodicController::look() {
  if (workers_.present_count() == 0) return std::nullopt;
  look_is_due_ = false;
  std::optional<Allocation> proposed = proposal();
  workers_.looked();
  if (proposed) workers_.adopt(*proposed);
  return proposed;
}

}  // namespace paceline

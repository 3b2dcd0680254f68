#include "sim/policy/batching/periodic_controller.hpp"

#include <algorithm>
#include <cmath>

namespace paceline {

ObservedWorkers::ObservedWorkers(const Allocation& start, std::optional<double> smoothing)
    : workers_(start.size()), smoothing_(smoothing) {
  for (std::size_t k = 0; k < start.size(); ++k) workers_[k].batch_samples = start[k].samples;
}

bool ObservedWorkers::observe(WorkerId worker, std::int64_t batch_samples, Seconds compute_time) {
  ObservedWorker& seen = workers_.at(worker.value);
  if (batch_samples != seen.batch_samples) return false;
  ++seen.iterations;
  ++seen.iterations_since_look;
  const double plain = 1.0 / static_cast<double>(seen.iterations);
  const double weight = seen.iterations == 1 ? 1.0 : smoothing_.value_or(plain);
  seen.mean_time_s += weight * (compute_time.value() - seen.mean_time_s);
  return true;
}

void ObservedWorkers::set_present(WorkerId worker, bool is_present) {
  ObservedWorker& seen = workers_.at(worker.value);
  seen = {.is_present = is_present, .batch_samples = seen.batch_samples};
}

bool ObservedWorkers::all_seen(std::int64_t iterations) const {
  return std::ranges::all_of(workers_, [=](const ObservedWorker& worker) {
    return !worker.is_present || worker.iterations_since_look >= iterations;
  });
}

void ObservedWorkers::looked() {
  for (ObservedWorker& worker : workers_) worker.iterations_since_look = 0;
}

void ObservedWorkers::adopt(const Allocation& allocation) {
  for (std::size_t k = 0; k < workers_.size(); ++k) {
    if (!workers_[k].is_present) continue;
    workers_[k] = {.is_present = true, .batch_samples = allocation[k].samples};
  }
}

std::vector<std::size_t> ObservedWorkers::present() const {
  std::vector<std::size_t> present;
  for (std::size_t k = 0; k < workers_.size(); ++k)
    if (workers_[k].is_present) present.push_back(k);
  return present;
}

double ObservedWorkers::mean_time_s() const {
  const std::vector<std::size_t> those_present = present();
  double mean_s = 0.0;
  for (const std::size_t k : those_present)
    mean_s += workers_[k].mean_time_s / static_cast<double>(those_present.size());
  return mean_s;
}

Allocation ObservedWorkers::unchanged() const {
  Allocation allocation;
  for (const ObservedWorker& worker : workers_)
    allocation.push_back({worker.batch_samples, static_cast<double>(worker.batch_samples), BatchLimit::none});
  return allocation;
}

double largest_relative_change(const ObservedWorkers& workers, const Allocation& allocation) {
  double largest = 0.0;
  for (std::size_t k = 0; k < workers.size(); ++k) {
    const auto before = static_cast<double>(workers[k].batch_samples);
    largest = std::max(largest, std::abs(static_cast<double>(allocation[k].samples) - before) / before);
  }
  return largest;
}

void describe(Visitor& v, LookParameters& p) {
  v.optional("smoothing", p.smoothing, Number{above_up_to(0, 1)},
             "weight of the newest iteration time in a moving average");
  v.optional("adjust_every", p.adjust_every, period(),
             "iterations of every worker, or epochs of the job, between two looks at the times");
}

void describe(Visitor& v, PeriodicParameters& p) {
  v.optional("dead_band", p.dead_band, Number{between(0, 1)},
             "largest change of a batch, as a fraction, up to which all are left alone");
  describe(v, static_cast<LookParameters&>(p));
}

PeriodicController::PeriodicController(const BatchingConfig& config, std::span<const WorkerPrior> workers,
                                       const LookParameters& parameters)
    : bounds_(bounds_of(config, workers)),
      workers_(start_batches(config, workers), parameters.smoothing),
      start_(start_batches(config, workers)),
      initial_samples_(config.initial_samples),
      period_(parameters.adjust_every) {}

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

std::optional<Allocation> PeriodicController::look() {
  if (workers_.present().empty()) return std::nullopt;
  look_is_due_ = false;
  std::optional<Allocation> proposed = proposal();
  workers_.looked();
  if (proposed) workers_.adopt(*proposed);
  return proposed;
}

}  // namespace paceline

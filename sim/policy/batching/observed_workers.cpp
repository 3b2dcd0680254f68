#include "sim/policy/batching/observed_workers.hpp"

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

std::int64_t ObservedWorkers::present_count() const {
  return std::ranges::count_if(workers_, &ObservedWorker::is_present);
}

double ObservedWorkers::mean_time_s() const {
  double mean_s = 0.0;
  const auto present = static_cast<double>(present_count());
  for (const ObservedWorker& worker : workers_)
    if (worker.is_present) mean_s += worker.mean_time_s / present;
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

}  // namespace paceline

#include "sim/policy/batching/equal_times.hpp"

#include <algorithm>
#include <cmath>
#include <numeric>

#include "sim/base/check.hpp"

namespace paceline {
namespace {

constexpr int bisections = 60;  // of the logarithm of a time: to its last bits

using Exact = std::vector<double>;  // parts of samples, by worker

bool takes_time(const TimeNearBatch& near) {
  return near.time_s > 0.0 && std::isfinite(near.time_s);
}

Exact taking(double time_s, std::span<const TimeNearBatch> workers, std::span<const BatchBounds> bounds) {
  Exact exact;
  for (std::size_t k = 0; k < workers.size(); ++k)
    exact.push_back(std::clamp(workers[k].batch_taking(time_s), static_cast<double>(bounds[k].lowest),
                               static_cast<double>(bounds[k].highest)));
  return exact;
}

// `total` is one that the bounds can hold.
Exact with_same_time(std::int64_t total, std::span<const TimeNearBatch> workers,
                     std::span<const BatchBounds> bounds) {
  const auto reaches_total = [&](double time_s) {
    const Exact exact = taking(time_s, workers, bounds);
    return std::accumulate(exact.begin(), exact.end(), 0.0) >= static_cast<double>(total);
  };
  double low_s = workers.front().time_s;
  while (low_s > 0.0 && reaches_total(low_s)) low_s /= 2.0;
  double high_s = workers.front().time_s;
  while (std::isfinite(high_s) && !reaches_total(high_s)) high_s *= 2.0;
  for (int i = 0; i < bisections; ++i) {
    const double middle_s = std::sqrt(low_s) * std::sqrt(high_s);
    (reaches_total(middle_s) ? high_s : low_s) = middle_s;
  }
  return taking(high_s, workers, bounds);
}

}  // namespace

Allocation equal_times(std::int64_t total, std::span<const TimeNearBatch> workers,
                       std::span<const BatchBounds> bounds) {
  check(workers.size() == bounds.size() && std::ranges::all_of(workers, takes_time),
        "each worker has a positive, finite time and bounds");
  const std::int64_t held = held_by(bounds, total);
  const std::vector<BatchBounds> unbounded(workers.size(), {0, total, BatchLimit::none});
  return whole_batches(held, with_same_time(held, workers, bounds), with_same_time(total, workers, unbounded),
                       bounds);
}

}  // namespace paceline

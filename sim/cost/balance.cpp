#include "sim/cost/balance.hpp"

#include <algorithm>
#include <cmath>
#include <limits>

#include "sim/base/check.hpp"
#include "sim/cost/compute_law.hpp"

namespace paceline {
namespace {

constexpr int bisections = 60;

double samples_within(std::span<const BalancedWorker> workers, Seconds time) {
  double sum = 0.0;
  for (const BalancedWorker& worker : workers) sum += std::max(1.0, batch_taking(worker.law, time));
  return sum;
}

}  // namespace

double batch_taking(const ComputeFit& law, Seconds time) {
  const auto along = [](Seconds left, Seconds slope) {
    return slope > Seconds{} ? left / slope : std::numeric_limits<double>::infinity();
  };
  const double batch = along(time - law.intercept, law.slope_per_sample);
  if (!law.knee || batch <= law.knee->at_samples) return batch;
  const Seconds at_knee = law.intercept + law.knee->at_samples * law.slope_per_sample;
  return law.knee->at_samples + along(time - at_knee, law.slope_per_sample + law.knee->extra_slope);
}

Balance balance_of(std::span<const BalancedWorker> workers) {
  check(!workers.empty(), "a balance is one of workers");
  Balance balance;
  Seconds low;  // every worker has time for one sample
  for (const BalancedWorker& worker : workers) {
    balance.total_samples += worker.batch_samples;
    balance.slowest =
        std::max(balance.slowest, law_seconds(worker.law, static_cast<double>(worker.batch_samples)));
    low = std::max(low, law_seconds(worker.law, 1.0));
  }
  const auto total = static_cast<double>(balance.total_samples);
  Seconds high = std::max(low, balance.slowest);
  balance.balanced = low;
  if (samples_within(workers, low) >= total) return balance;
  for (int i = 0; i < bisections; ++i) {
    const Seconds middle = 0.5 * (low + high);
    (samples_within(workers, middle) >= total ? high : low) = middle;
  }
  balance.balanced = high;
  return balance;
}

}  // namespace paceline

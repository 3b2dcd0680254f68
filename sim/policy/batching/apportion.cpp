#include "sim/policy/batching/apportion.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <numeric>
#include <utility>

#include "sim/base/check.hpp"

namespace paceline {
namespace {

constexpr double rounding_slack = 1e-9;  // 20 - 1e-12 is 20

double filled(double level, std::span<const double> shares, std::span<const BatchBounds> bounds) {
  double sum = 0.0;
  for (std::size_t k = 0; k < shares.size(); ++k) sum += bounds[k].clamp(level * shares[k]);
  return sum;
}

// The λ of the water-filling: the sum is linear between the levels at which a worker meets one of its bounds.
double level_for(double total, std::span<const double> shares, std::span<const BatchBounds> bounds) {
  std::vector<double> bends{0.0};
  for (std::size_t k = 0; k < shares.size(); ++k) {
    bends.push_back(static_cast<double>(bounds[k].lowest) / shares[k]);
    bends.push_back(static_cast<double>(bounds[k].highest) / shares[k]);
  }
  std::sort(bends.begin(), bends.end());
  const auto above =
      std::find_if(bends.begin(), bends.end(), [&](double b) { return filled(b, shares, bounds) >= total; });
  if (above == bends.begin()) return 0.0;
  if (above == bends.end()) return bends.back();
  const double low = *std::prev(above);
  const double at_low = filled(low, shares, bounds);
  const double at_high = filled(*above, shares, bounds);
  return low + (*above - low) * (total - at_low) / (at_high - at_low);
}

BatchLimit limit_of(std::int64_t samples, double wanted, const BatchBounds& bounds) {
  if (samples == bounds.lowest && wanted < static_cast<double>(bounds.lowest) - 0.5)
    return BatchLimit::minimum;
  if (samples == bounds.highest && wanted > static_cast<double>(bounds.highest) + 0.5)
    return bounds.highest_is;
  return BatchLimit::none;
}

std::vector<double> shares_of(ShareBasis basis, std::span<const WorkerPrior> workers) {
  constexpr std::array declared{&WorkerPrior::throughput, &WorkerPrior::cores, &WorkerPrior::flops};
  std::vector<double> shares;
  for (const WorkerPrior& worker : workers)
    shares.push_back(worker.*declared.at(static_cast<std::size_t>(basis)));
  return shares;
}

}  // namespace

std::vector<BatchBounds> bounds_of(const BatchingConfig& config, std::span<const WorkerPrior> workers) {
  std::vector<BatchBounds> bounds;
  for (const WorkerPrior& worker : workers) {
    BatchBounds of_worker{config.minimum_samples, config.maximum_samples, BatchLimit::maximum};
    if (worker.memory_samples && *worker.memory_samples < of_worker.highest) {
      check(*worker.memory_samples >= 1, "a worker's memory holds at least one sample");
      of_worker.highest = *worker.memory_samples;
      of_worker.highest_is = BatchLimit::memory;
      of_worker.lowest = std::min(of_worker.lowest, of_worker.highest);
    }
    bounds.push_back(of_worker);
  }
  return bounds;
}

WorkerBatch within(double wanted_samples, const BatchBounds& bounds) {
  const auto samples = static_cast<std::int64_t>(bounds.clamp(std::round(wanted_samples)));
  return {samples, wanted_samples, limit_of(samples, wanted_samples, bounds)};
}

Allocation apportion(std::int64_t total, std::span<const double> shares,
                     std::span<const BatchBounds> bounds) {
  check(shares.size() == bounds.size() && std::ranges::all_of(shares, [](double w) { return w > 0.0; }),
        "each worker has a positive share and bounds");
  const std::int64_t held = held_by(bounds, total);
  const double level = level_for(static_cast<double>(held), shares, bounds);
  const double per_share = static_cast<double>(total) / std::accumulate(shares.begin(), shares.end(), 0.0);
  std::vector<double> exact;
  std::vector<double> wanted;
  for (std::size_t k = 0; k < shares.size(); ++k) {
    exact.push_back(bounds[k].clamp(level * shares[k]));
    wanted.push_back(per_share * shares[k]);
  }
  return whole_batches(held, exact, wanted, bounds);
}

std::int64_t held_by(std::span<const BatchBounds> bounds, std::int64_t total) {
  std::int64_t lowest = 0;
  std::int64_t highest = 0;
  for (const BatchBounds& of_worker : bounds) {
    lowest += of_worker.lowest;
    highest += of_worker.highest;
  }
  return std::clamp(total, lowest, highest);
}

Allocation whole_batches(std::int64_t held, std::span<const double> exact, std::span<const double> wanted,
                         std::span<const BatchBounds> bounds) {
  Allocation allocation;
  std::vector<std::pair<double, std::size_t>> remainders;
  std::int64_t missing = held;
  for (std::size_t k = 0; k < exact.size(); ++k) {
    const double whole = std::floor(exact[k] + rounding_slack);
    allocation.push_back({static_cast<std::int64_t>(whole), wanted[k], BatchLimit::none});
    missing -= allocation.back().samples;
    if (allocation.back().samples < bounds[k].highest) remainders.emplace_back(whole - exact[k], k);
  }
  std::sort(remainders.begin(), remainders.end());
  for (std::size_t i = 0; missing > 0; ++i, --missing) ++allocation[remainders.at(i).second].samples;
  for (std::size_t k = 0; k < exact.size(); ++k)
    allocation[k].limited_by = limit_of(allocation[k].samples, wanted[k], bounds[k]);
  return allocation;
}

Allocation equal_batches(const BatchingConfig& config, std::span<const WorkerPrior> workers) {
  Allocation allocation;
  for (const WorkerPrior& worker : workers) {
    BatchBounds fits{1, config.initial_samples, BatchLimit::none};
    if (worker.memory_samples && *worker.memory_samples < config.initial_samples)
      fits = {1, *worker.memory_samples, BatchLimit::memory};
    allocation.push_back(within(static_cast<double>(config.initial_samples), fits));
  }
  return allocation;
}

Allocation shared_batches(const BatchingConfig& config, std::span<const WorkerPrior> workers) {
  const std::int64_t total = config.initial_samples * static_cast<std::int64_t>(workers.size());
  return apportion(total, shares_of(config.shares, workers), bounds_of(config, workers));
}

Allocation start_batches(const BatchingConfig& config, std::span<const WorkerPrior> workers) {
  return config.start == StartBatches::uniform ? equal_batches(config, workers)
                                               : shared_batches(config, workers);
}

}  // namespace paceline

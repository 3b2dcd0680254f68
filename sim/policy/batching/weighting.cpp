#include "sim/policy/batching/weighting.hpp"

#include <numeric>

#include "sim/base/check.hpp"

namespace paceline {

std::vector<double> aggregation_weights(GradientWeighting weighting, std::span<const std::int64_t> batches) {
  check(!batches.empty(), "an update combines at least one gradient");
  const auto count = static_cast<double>(batches.size());
  const auto total = static_cast<double>(std::accumulate(batches.begin(), batches.end(), std::int64_t{0}));
  std::vector<double> weights;
  for (const std::int64_t batch : batches) {
    const bool by_batch = weighting == GradientWeighting::by_batch;
    weights.push_back(by_batch ? static_cast<double>(batch) / total : 1.0 / count);
  }
  return weights;
}

}  // namespace paceline

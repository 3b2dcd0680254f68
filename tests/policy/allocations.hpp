// Bounds alike for all workers, and sums, for tests of divisions.
#pragma once

#include <numeric>
#include <vector>

#include "sim/policy/batching/apportion.hpp"

namespace paceline::test {

inline std::vector<BatchBounds> same_bounds(std::size_t workers, std::int64_t lowest, std::int64_t highest) {
  return std::vector<BatchBounds>(workers, {lowest, highest, BatchLimit::maximum});
}

inline std::int64_t sum(const Allocation& allocation) {
  const Batches batches = batches_of(allocation);
  return std::accumulate(batches.begin(), batches.end(), std::int64_t{0});
}

}  // namespace paceline::test

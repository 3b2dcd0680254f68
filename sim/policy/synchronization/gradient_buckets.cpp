#include "sim/policy/synchronization/gradient_buckets.hpp"

#include <algorithm>

#include "sim/base/check.hpp"

namespace paceline {

std::vector<GradientBucket> gradient_buckets(std::vector<GradientVariable> variables,
                                             const BucketSizes& sizes) {
  std::erase_if(variables, [](const GradientVariable& one) { return one.bytes == Bytes{}; });
  check(!variables.empty(), "a gradient is of some variable");
  std::ranges::reverse(variables);
  std::ranges::stable_sort(variables, {}, &GradientVariable::ready);
  std::vector<GradientBucket> buckets;
  Bytes held;
  for (const GradientVariable& one : variables) {
    held += one.bytes;
    const bool is_last = &one == &variables.back();
    if (!is_last && held < (buckets.empty() ? sizes.first : sizes.size)) continue;
    buckets.push_back({held, one.ready});
    held = {};
  }
  return buckets;
}

}  // namespace paceline

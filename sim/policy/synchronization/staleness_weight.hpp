// How much a stale gradient still counts.
//
// Models:      a factor on what one gradient (or difference) adds to an update, by its staleness t in
//              updates.
// Equation:    none: 1;  inverse: 1 / max(1, t);  power: (1 + t)^-exponent;  cut-off: 1 up to t = limit, 0
//              beyond.
//              It multiplies the weight by batches, and nothing is scaled up in return.
// Source:      inverse: Zhang et al., IJCAI 2016 (arXiv 1511.05950); power: Xie et al., arXiv 1903.03934
//              (FedAsync).
#pragma once

#include <algorithm>
#include <cmath>
#include <cstdint>

namespace paceline {

enum class StalenessRule { none, inverse, power, cut_off };

struct StalenessWeight {
  StalenessRule rule = StalenessRule::none;
  double exponent = 0.5;
  std::int64_t limit = 0;

  [[nodiscard]] double of(std::uint64_t staleness) const {
    switch (rule) {
      case StalenessRule::none:
        break;
      case StalenessRule::inverse:
        return 1.0 / static_cast<double>(std::max<std::uint64_t>(1, staleness));
      case StalenessRule::power:
        return std::pow(1.0 + static_cast<double>(staleness), -exponent);
      case StalenessRule::cut_off:
        return staleness <= static_cast<std::uint64_t>(limit) ? 1.0 : 0.0;
    }
    return 1.0;
  }
};

}  // namespace paceline

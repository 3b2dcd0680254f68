// How fast the machine was around a real run: what iterations took that were looked at before and after it.
//
// Models:      a machine that others use, too, and that changes its speed.
// Equation:    slowness = √(before/usual · after/usual); as usual where both looks are within a tenth of it.
// Units:       seconds.
// Assumptions: what slowed the workers looked at slowed the run alike.
// Not modelled: changes during a run that are over when it ends; which core was slower.
#pragma once

#include <cmath>
#include <optional>

#include "sim/base/quantity.hpp"

namespace paceline::live {

// By how much `measured` is more or less than `expected`, as a share of the latter.
[[nodiscard]] inline double deviation(Seconds measured, Seconds expected) {
  return std::abs(measured / expected - 1.0);
}
// Looks no further apart than this are of a machine as fast.
inline constexpr double usual_within = 0.1;

struct MachineLooks {
  Seconds usual;  // before the prediction
  Seconds before;
  std::optional<Seconds> after{};  // absent: nobody would have waited for another run
  Seconds waited{};                // until the run began that counts
  int repeated = 0;                // runs before it that do not, since the machine changed meanwhile
  // How much longer than usual iterations took around it.
  [[nodiscard]] double slowness() const {
    return std::sqrt(before / usual * (after.value_or(before) / usual));
  }
  [[nodiscard]] bool is_as_usual() const {
    return after && deviation(before, usual) <= usual_within && deviation(*after, usual) <= usual_within;
  }
};

}  // namespace paceline::live

// How far a number is from the one expected, as a share of it.
#pragma once

#include <cmath>

namespace paceline::test {

[[nodiscard]] inline double relative_difference(double value, double expected) {
  return std::abs(value - expected) / std::abs(expected);
}

}  // namespace paceline::test

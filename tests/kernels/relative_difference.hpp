// How far apart two vectors of parameters or gradients are.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <span>

namespace paceline::test {

// max |a - b| / max |b|
inline double relative_difference(std::span<const float> a, std::span<const float> b) {
  double difference = 0.0;
  double size = 0.0;
  for (std::size_t i = 0; i < b.size(); ++i) {
    difference = std::max(difference, std::abs(static_cast<double>(a[i]) - b[i]));
    size = std::max(size, std::abs(static_cast<double>(b[i])));
  }
  return difference / size;
}

}  // namespace paceline::test

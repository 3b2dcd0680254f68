// What numbers are sent as.
//
// Equation:    fp16 (IEEE 754 binary16): 11 significant binary digits, the smallest step 2^-24, rounded to
//              the nearest, ties to even; beyond 65504 infinite.
// Units:       bytes.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <limits>

namespace paceline {

enum class NumberType : std::uint8_t { fp32, fp16 };

// Relative to those of fp32.
[[nodiscard]] constexpr double bytes_factor(NumberType type) {
  return type == NumberType::fp16 ? 0.5 : 1.0;
}

[[nodiscard]] inline float rounded_to_half(float value) {
  if (value == 0.0F || !std::isfinite(value)) return value;
  constexpr int smallest_exponent = -14;
  constexpr float largest = 65504.0F;
  const float step = std::ldexp(1.0F, std::max(std::ilogb(value), smallest_exponent) - 10);
  const float rounded = std::nearbyint(value / step) * step;
  if (std::abs(rounded) <= largest) return rounded;
  return std::copysign(std::numeric_limits<float>::infinity(), value);
}

}  // namespace paceline

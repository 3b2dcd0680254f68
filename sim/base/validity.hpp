// Whether a quantity of a job lies where a profile or a learner was fitted.
//
// Equation:    inside: the range used lies within the range fitted; near: beyond an end of it by a factor of
//              at most 1.5; outside: further.
// Units:       of the quantity, named with it: "batch (samples)".
// Assumptions: quantities are not negative.
#pragma once

#include <algorithm>
#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

namespace paceline {

enum class Validity { inside, near, outside };
[[nodiscard]] constexpr std::string_view to_string(Validity validity) {
  constexpr std::string_view words[] = {"inside", "near", "outside"};
  return words[static_cast<std::size_t>(validity)];
}

// Quantities that runs show more exactly than their scenario.
inline constexpr std::string_view staleness_quantity = "staleness (updates)";
inline constexpr std::string_view batch_quantity = "batch (samples)";

struct ValueRange {
  double least = 0.0;
  double most = 0.0;
  friend bool operator==(const ValueRange&, const ValueRange&) = default;
};

struct ValidityRow {
  std::string quantity;  // "cores", "batch (samples)"
  std::string file;      // the profile or the learner
  ValueRange fitted;
  ValueRange used;

  [[nodiscard]] Validity validity() const {
    constexpr double near = 1.5;
    constexpr double rounding = 1.0 + 1e-9;
    const auto within = [&](double factor) {
      return used.most <= fitted.most * factor && used.least * factor >= fitted.least;
    };
    if (within(rounding)) return Validity::inside;
    return within(near * rounding) ? Validity::near : Validity::outside;
  }
};

}  // namespace paceline

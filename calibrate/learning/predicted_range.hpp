// Where a figure of a few runs lies, told from many predicted ones.
//
// Models:      what chance does to a mean, a median, a deviation or a share over as few runs as were recorded.
// Equation:    the 5 % and 95 % quantiles of the figure over 400 sets of `runs` runs drawn from the predicted ones with
//              replacement; a set that has no such figure (nobody reached the accuracy) is left out.
// Units:       those of the figure.
// Assumptions: the predicted runs are independent; that the fit itself is uncertain is not in the range.
// Source:      bootstrap.
#pragma once

#include <cstddef>
#include <functional>
#include <optional>

#include "calibrate/learning/prediction.hpp"

namespace paceline {

struct PredictedRange {
  double low = 0.0;
  double high = 0.0;
};

// Nothing when fewer than 20 of the sets have the figure.
[[nodiscard]] std::optional<PredictedRange> predicted_range(
    const PredictedRuns& predicted, std::size_t runs,
    const std::function<std::optional<double>(const PredictedRuns&)>& figure);

}  // namespace paceline

// A calibration profile as a figure: what was measured, what was fitted, how far apart they are.
//
// Models:      above, seconds of an iteration over the batch, both axes logarithmic: a point for each measuring process, the
//              fitted law of each core count, and the band of the profile's ensemble; below, the relative residuals.
// Equation:    point = mean of the durations that are at most 3 times their median (calibrate/fit/fit.hpp); band: the central
//              95 % of the ensemble's laws; residual = point / law − 1.
// Units:       seconds or parts of it; samples; per cent.
// Assumptions: none beyond the profile's own.
// Not modelled: uncertainty of a derived profile, which has no samples: its laws are drawn alone.
// Source:      none.
#pragma once

#include <filesystem>
#include <string_view>

#include "plots/figures.hpp"

namespace paceline::plots {

inline constexpr std::string_view profile_figure_name = "profile";

// Throws UserError when the file is no profile.
[[nodiscard]] Figure profile_figure(const std::filesystem::path& profile, std::string_view command);

}  // namespace paceline::plots

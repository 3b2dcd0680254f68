// What to measure again to see whether a profile still holds: points that its fits have never seen.
//
// Models:      batches between the measured ones, core counts between the measured ones where a law of the
//              cores was judged by leaving counts out.
// Equation:    batch: the geometric mean of two neighbours, rounded, where that is neither; at most 4 of
//              these, spread evenly; core count likewise, at most one.
//              The profile holds where the mean absolute relative error is at most 5 % and 95 % of the errors
//              are at most 10 %.
#pragma once

#include <cstdint>
#include <vector>

#include "calibrate/fit/measured_profile.hpp"
#include "calibrate/fit/report.hpp"

namespace paceline::calibrate {

inline constexpr double holds_mean_error = 0.05;
inline constexpr double holds_percentile_95 = 0.10;

[[nodiscard]] std::vector<std::int64_t> held_out_batches(const std::vector<std::int64_t>& measured);
// The measured counts that this machine has, and one between them where the profile knows the law's error.
[[nodiscard]] std::vector<int> held_out_cores(const Profile& profile, int machine_cores);
[[nodiscard]] bool holds(const ErrorSummary& summary);

}  // namespace paceline::calibrate

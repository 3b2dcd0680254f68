// What a calibration tells its user at the end: JSON for machines, warnings for all. For people: report.hpp.
#pragma once

#include <string>
#include <vector>

#include "calibrate/fit/profile_writer.hpp"

namespace paceline::calibrate {

// Above these a profile's predictions deserve distrust.
inline constexpr double noisy_iteration_cv = 0.10;
inline constexpr double poor_leave_one_out_error = 0.10;
// Share of the measured cores that other programs took. Two threads that wait for each other suffer from
// little.
inline constexpr double disturbing_load = 0.05;

// Spread of the reference loop's time over the processes: the clock's speed changed.
inline constexpr double unsteady_clock = 0.05;
// Either side of a point's mean.
inline constexpr double wide_interval = 0.05;

// One sentence each; empty when the measurement looks sound.
[[nodiscard]] std::vector<std::string> warnings_about(const Calibration& calibration);

[[nodiscard]] std::string summary_json(const Calibration& calibration, const std::string& profile_path);

}  // namespace paceline::calibrate

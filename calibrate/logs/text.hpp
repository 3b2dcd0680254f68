// Measured durations as a reader sees them, and the layout of a profile's file.
#pragma once

#include <string>

#include <nlohmann/json_fwd.hpp>

namespace paceline::calibrate {

// "1.2 s", "3.4 ms", "56 us"
[[nodiscard]] std::string duration_text(double seconds);
// One key, and of `samples` one sample, a line.
[[nodiscard]] std::string profile_file_text(const nlohmann::ordered_json& profile);

}  // namespace paceline::calibrate

// A profile file with what only calibration needs of it: raw samples, and who measured them.
#pragma once

#include <filesystem>
#include <string>
#include <vector>

#include "calibrate/sample.hpp"
#include "sim/cost/profile.hpp"

namespace paceline::calibrate {

struct MeasuredProfile {
  Profile profile;
  MeasurementPlan plan;         // of a measured profile
  std::string command;          // likewise
  std::string date;             // likewise
  std::string software;         // likewise
  std::vector<Sample> samples;  // empty for a derived one
  std::vector<std::string> sources;
};

// Throws UserError as read_profile does, and for samples that do not make sense.
[[nodiscard]] MeasuredProfile read_measured_profile(const std::filesystem::path& path);

}  // namespace paceline::calibrate

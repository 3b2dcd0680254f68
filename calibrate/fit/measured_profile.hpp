// A profile file with what only calibration needs of it: raw samples, and who measured them.
#pragma once

#include <cstdint>
#include <filesystem>
#include <optional>
#include <string>
#include <vector>

#include <nlohmann/json_fwd.hpp>

#include "calibrate/fit/noise_scale.hpp"
#include "calibrate/measure/sample.hpp"
#include "sim/cost/profile.hpp"

namespace paceline::calibrate {

// The gradient noise scale along training (noise_scale.hpp).
struct NoiseRecord {
  struct Point {
    std::int64_t updates = 0;
    double loss = 0.0;
    NoiseScale scale;
  };
  std::string data;
  std::int64_t small_batch = 0;
  std::int64_t large_batch = 0;
  int repeats = 0;
  std::vector<Point> points;
};

struct MeasuredProfile {
  Profile profile;
  MeasurementPlan plan;         // of a measured profile
  std::string command;          // likewise
  std::string date;             // likewise
  std::string software;         // likewise
  std::vector<Sample> samples;  // empty for a derived one
  std::vector<std::string> sources;
  std::optional<Bytes> machine_memory;  // where the file says it
  std::optional<NoiseRecord> noise;     // where `paceline calibrate noise --into` measured it
};

void to_json(nlohmann::ordered_json& json, const NoiseRecord& noise);
// The rest of the file stays as it is. Throws UserError for a file that is no profile, and cannot be written.
void store_noise(const std::filesystem::path& path, const NoiseRecord& noise);

// Throws UserError as read_profile does, and for samples that do not make sense.
[[nodiscard]] MeasuredProfile read_measured_profile(const std::filesystem::path& path);

}  // namespace paceline::calibrate

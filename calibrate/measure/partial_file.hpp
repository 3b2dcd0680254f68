// What an interrupted calibration has measured so far, beside the profile it was to become.
//
// Models:      a file OUTPUT.partial: a line that says what is being measured and by which plan, then the
//              samples of each whole process followed by a line {"processes": n}, n the processes so far. A
//              process that was cut off has no such line and is measured again.
// Assumptions: lines are appended and reach the disk in order.
// Not modelled: two calibrations writing the same file at once.
#pragma once

#include <filesystem>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "calibrate/measure/sample.hpp"

namespace paceline::calibrate {

struct PartialMeasurement {
  std::string identity;  // network, machine, software and options: what must agree to go on
  std::string command;   // that began it
  MeasurementPlan plan;
  std::vector<Sample> samples = {};  // of whole processes
};

[[nodiscard]] std::filesystem::path partial_path(const std::filesystem::path& output);

// Nothing when there is no such file. Throws UserError when it is not one of these files.
[[nodiscard]] std::optional<PartialMeasurement> read_partial(const std::filesystem::path& path);

class PartialFile {
 public:
  // Creates the file anew with what `measurement` holds already. Throws UserError when it cannot be written.
  PartialFile(std::filesystem::path path, const PartialMeasurement& measurement);
  void append(std::span<const Sample> of_process);

 private:
  std::filesystem::path path_;
  int processes_ = 0;
};

}  // namespace paceline::calibrate

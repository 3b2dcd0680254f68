// The command line of `paceline calibrate`.
#pragma once

#include <filesystem>
#include <optional>
#include <string>
#include <vector>

#include "calibrate/measure/machine.hpp"
#include "calibrate/measure/sample.hpp"

namespace paceline::calibrate {

struct Options {
  MeasurementPlan plan;  // batches empty: to be chosen within time and memory (planning.hpp)
  double budget_s = 300.0;
  std::optional<double> memory_bytes;  // that may be used; absent: most of what is available
  bool restart = false;                // forget an interrupted calibration
  std::string identity;                // of what is asked for, without where it goes
  std::filesystem::path output;
  bool force = false;
  bool json = false;
  std::string command;  // the command line, as a user would type it
};

// Nothing when help was asked for, and printed. Throws UserError. Network and output are checked as well: measuring
// takes long enough for a mistake to be found before it.
[[nodiscard]] std::optional<Options> parse_options(const std::vector<std::string>& arguments,
                                                   const Machine& machine);

}  // namespace paceline::calibrate

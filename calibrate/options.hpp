// The command line of `paceline calibrate`.
#pragma once

#include <filesystem>
#include <optional>
#include <string>
#include <vector>

#include "calibrate/machine.hpp"
#include "calibrate/sample.hpp"

namespace paceline::calibrate {

struct Options {
  MeasurementPlan plan;
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

// A finished calibration as the text of a profile file (format: sim/cost/profile.hpp).
#pragma once

#include <optional>
#include <string>
#include <vector>

#include <nlohmann/json_fwd.hpp>

#include "calibrate/fit/fit.hpp"
#include "calibrate/measure/core_states.hpp"
#include "calibrate/measure/machine.hpp"
#include "calibrate/measure/sample.hpp"
#include "kernels/interface/training_step.hpp"

namespace paceline::calibrate {

struct Calibration {
  kernels::NetworkFacts network;
  Machine machine;
  kernels::KernelSoftware software;
  MeasurementPlan plan;
  std::string command;               // that repeats it
  std::string date;                  // of measuring, ISO 8601
  std::optional<double> other_load;  // share of the measured cores that other programs took; absent: unknown
  std::vector<Sample> samples;
  std::vector<CoreStates> core_states;
  ProfileFits fits;
};

// Size of the network's parameters, and of one gradient, as 32-bit numbers.
[[nodiscard]] Bytes parameter_bytes(const kernels::NetworkFacts& network);

// Numbers are written so that reading them gives the same doubles. Throws ProgrammingError when a number is
// not finite.
[[nodiscard]] std::string profile_text(const Calibration& calibration);

// The same of a profile in JSON: each member on a line, each of its samples likewise, so that thousands of
// durations stay within reach of grep and diff.
[[nodiscard]] std::string profile_file_text(const nlohmann::ordered_json& profile);

}  // namespace paceline::calibrate

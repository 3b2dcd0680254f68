// Profile files (format: sim/cost/profile.hpp): written from a finished calibration, and read back with what
// only calibration needs of them: raw samples, and who measured them.
#pragma once

#include <filesystem>
#include <optional>
#include <string>
#include <vector>

#include <nlohmann/json_fwd.hpp>

#include "calibrate/fit/fit.hpp"
#include "calibrate/measure/core_states.hpp"
#include "calibrate/measure/machine.hpp"
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

// Each member on a line, each of the samples likewise, so that thousands of durations stay within reach of
// grep and diff. Numbers are written so that reading them gives the same doubles. Throws ProgrammingError
// when a number is not finite.
[[nodiscard]] std::string profile_text(const Calibration& calibration);

struct MeasuredProfile {
  Profile profile;
  MeasurementPlan plan;         // of a measured profile
  std::string command;          // likewise
  std::string date;             // likewise
  std::string software;         // likewise
  std::vector<Sample> samples;  // empty for a derived one
  std::vector<std::string> sources;
  std::optional<Bytes> machine_memory;  // where the file says it
};

// Throws UserError as read_profile does, and for samples that do not make sense.
[[nodiscard]] MeasuredProfile read_measured_profile(const std::filesystem::path& path);

// "LibTorch 1.13.1, OpenBLAS 0.3.21"
[[nodiscard]] std::string software_text(const std::string& libtorch, const std::string& blas);

}  // namespace paceline::calibrate

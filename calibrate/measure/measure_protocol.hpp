// What the calibration program and its measuring processes tell each other: one line of JSON each.
//
// The parent passes one MeasureRequest as an argument; the child answers with one Sample a line.
#pragma once

#include <string>
#include <vector>

#include "calibrate/measure/sample.hpp"

namespace paceline::calibrate {

inline constexpr const char* measure_child_flag = "--measure-child";

// The work of one measuring process: every batch of the plan in turn, on one core count.
struct MeasureRequest {
  MeasurementPlan plan;
  int cores = 1;
  int process = 0;
  bool with_server = false;            // the server's two operations as well
  std::vector<int> core_numbers = {};  // of the system: `cores` of them
  bool processor_clock = false;        // seconds of processor time, which pauses of a quota are not part of
};

// How many samples answer it: the reference loop; of each batch core_round_trip (with two cores or more),
// forward, forward_backward, optimizer_step and, where data is given, load_batch; the server's two.
[[nodiscard]] std::size_t expected_samples(const MeasureRequest& request);

[[nodiscard]] std::string to_line(const MeasureRequest& request);
[[nodiscard]] std::string to_line(const Sample& sample);
// Throw std::exception when the line is not what the function above makes.
[[nodiscard]] MeasureRequest parse_request(const std::string& line);
[[nodiscard]] Sample parse_sample(const std::string& line);

}  // namespace paceline::calibrate

// What the calibration program and its measuring processes tell each other: one line of JSON each.
//
// The parent passes one MeasureRequest as an argument; the child answers with one Sample a line.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include <nlohmann/json_fwd.hpp>

#include "calibrate/measure/sample.hpp"

namespace paceline::calibrate {

inline constexpr const char* measure_child_flag = "--measure-child";

// The work of one measuring process: every batch in turn on one core count.
struct MeasureRequest {
  std::string network;
  int cores = 1;
  int process = 0;
  std::vector<std::int64_t> batches;  // in the order of measuring
  bool with_server = false;           // the server's two operations as well
  double seconds_per_point = 0.3;
  int minimum_iterations = 10;
  std::vector<std::int64_t> input_shape = {};  // of a TorchScript file
  std::int64_t classes = 0;                    // of a TorchScript file
  std::optional<DataChoice> data = std::nullopt;
  std::vector<int> core_numbers = {};  // of the system: `cores` of them
  bool processor_clock = false;        // seconds of processor time, which pauses of a quota are not part of
};

// How many samples answer it: the reference loop; core_round_trip (with two cores or more), forward, forward_backward, optimizer_step and, where data is given,
// load_batch of each batch; the server's two.
[[nodiscard]] std::size_t expected_samples(const MeasureRequest& request);

[[nodiscard]] nlohmann::json data_json(const std::optional<DataChoice>& data);  // null: none
[[nodiscard]] std::optional<DataChoice> parse_data(const nlohmann::json& json);
[[nodiscard]] std::string to_line(const MeasureRequest& request);
[[nodiscard]] std::string to_line(const Sample& sample);
// Throw std::exception when the line is not what the function above makes.
[[nodiscard]] MeasureRequest parse_request(const std::string& line);
[[nodiscard]] Sample parse_sample(const std::string& line);

}  // namespace paceline::calibrate

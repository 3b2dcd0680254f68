// What a calibration measures, before anything is fitted, and what its measuring processes are asked.
//
// Models:  one Sample = the durations of one operation at one (cores, batch) point in one measuring process.
//          The parent passes one MeasureRequest as an argument, the child answers with one Sample a line,
//          both as JSON.
// Units:   seconds of wall-clock time, samples (of the mini-batch).
#pragma once

#include <array>
#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace paceline::calibrate {

enum class Operation {
  forward_backward,
  forward,     // the first part of forward_backward
  load_batch,  // fetched from a data set and normalized, before forward_backward
  optimizer_step,
  server_accumulate,
  server_step,
  gradients_ready,  // from the beginning of an iteration until each variable's was there; then its end
  core_round_trip,  // of a cache line between the cores, before and after the batch; with two cores or more
  reference_loop,   // the same arithmetic in every process: tells when the clock's speed changed
};

// The name used in profiles.
[[nodiscard]] constexpr std::string_view to_string(Operation operation) {
  constexpr std::array<std::string_view, 9> names{"forward_backward", "forward",           "load_batch",
                                                  "optimizer_step",   "server_accumulate", "server_step",
                                                  "gradients_ready",  "core_round_trip",   "reference_loop"};
  return names[static_cast<std::size_t>(operation)];
}

struct Sample {
  int cores = 1;
  std::int64_t batch = 1;  // of the training step at work
  int process = 0;         // counts from 0 for each core count
  Operation operation = Operation::forward_backward;
  std::vector<double> seconds;                             // in the order of measuring
  std::optional<double> peak_memory_bytes = std::nullopt;  // of the process so far, where batches ascend
  // Not fitted: its cores were in another state than the profile describes (core_states.hpp).
  bool set_aside = false;
};

// Whether there are durations, each finite and above 0.
[[nodiscard]] bool is_plausible(const Sample& sample);

// A data set in the words of a scenario: its kind, and the folder of its files.
struct DataChoice {
  std::string kind;
  std::string path;
};

struct MeasurementPlan {
  std::string network;                // of the list, or a TorchScript file
  std::vector<int> cores;             // ascending
  std::vector<std::int64_t> batches;  // ascending, at least 3
  int processes = 5;                  // for each core count; with a budget: the fewest
  double seconds_per_point = 0.3;     // each point runs at least this long …
  int minimum_iterations = 10;        // … and at least this often
  // Further passes until every point's interval is narrow or this time is spent; absent: none.
  std::optional<double> budget_s = std::nullopt;
  std::vector<std::int64_t> input_shape = {};     // of a TorchScript file
  std::int64_t classes = 0;                       // likewise
  std::optional<DataChoice> data = std::nullopt;  // to measure how long batches take to load
  // Round trips, by core count, of the state in which the cores are wanted (core_states.hpp); of others: that
  // seen most.
  std::map<int, double> wanted_round_trip_s = {};
  std::vector<std::string> dropped = {};  // what was left out to stay within time and memory, in words
};

inline constexpr const char* measure_child_flag = "--measure-child";

// The work of one measuring process: every batch of the plan in turn, on one core count.
struct MeasureRequest {
  MeasurementPlan plan;
  int cores = 1;
  int process = 0;
  bool with_server = false;  // the server's two operations as well, and of process 0 gradients_ready
  std::vector<int> core_numbers = {};  // of the system: `cores` of them
  bool processor_clock = false;        // seconds of processor time, which pauses of a quota are not part of
};

// How many samples answer it: the reference loop; of each batch core_round_trip (with two cores or more),
// forward, forward_backward, optimizer_step and, where data is given, load_batch; the server's two, and
// once gradients_ready.
[[nodiscard]] std::size_t expected_samples(const MeasureRequest& request);

[[nodiscard]] std::string to_line(const MeasureRequest& request);
[[nodiscard]] std::string to_line(const Sample& sample);
// Throw std::exception when the line is not what the function above makes.
[[nodiscard]] MeasureRequest parse_request(const std::string& line);
[[nodiscard]] Sample parse_sample(const std::string& line);

}  // namespace paceline::calibrate

// A calibration profile: how long one network's work takes on one kind of machine, as measured there.
//
// Models:      seconds of forward+backward for (cores, batch); of the optimizer step; server rates; jitter.
// Equation:    T(batch; cores) = intercept_s[cores] + batch · slope_s_per_sample[cores], one affine fit for each
//              measured core count. Jitter multiplies T by log-normal factors of mean 1.
// Units:       seconds, samples, bytes.
// Assumptions: core counts between measured ones are not interpolated: asking for one is an error. A batch outside
//              the measured range is extrapolated by the line and reported.
// Not modelled: the knee for large batches, memory, core scaling laws (design section 5).
// Source:      OmniLearn's affine GPU curve (ACSOS 2020, figure 5); design section 5.
//
// The file is JSON, written by `paceline calibrate`:
//   format "paceline-profile", version 1
//   network     {name, parameter_count, parameter_bytes}
//   machine     {cpu_model, logical_cores, physical_cores, memory_bytes, governor (null: unreadable), cpu_flags: [..]}
//   software    {paceline, libtorch, blas, compiler}
//   measurement {command, date, processes, batches: [..], cores: [..], seconds_per_point, minimum_iterations,
//                other_load (share of the measured cores that other programs took; null: unknown),
//                environment: [..] of the measuring processes on the fewest cores}
//   fits        {compute: [{cores, intercept_s, slope_s_per_sample, leave_one_out_error, batch_min, batch_max}],
//                optimizer_step: [{cores, seconds}],
//                server_accumulate_bytes_per_s, server_step_bytes_per_s}
//   jitter      {iteration_cv, run_cv (null: fewer than 3 processes), processes}
//               coefficients of variation (sd / mean); `processes` per core count
//   samples     [{cores, batch, process, operation, seconds: [..]}]
//               operation: forward_backward | optimizer_step | server_accumulate | server_step
//               `process` counts from 0 for each core count. `batch` is the batch of the training step at work, also
//               for the operations whose duration does not depend on it. `seconds` holds at most 200 durations, every
//               n-th of those measured, in the order of measuring.
// Readers accept members they do not know; only this list is promised.
#pragma once

#include <cstdint>
#include <filesystem>
#include <optional>
#include <string>
#include <vector>

#include "sim/base/quantity.hpp"

namespace paceline {

struct ComputeFit {
  int cores = 1;
  Seconds intercept;
  Seconds slope_per_sample;
  double leave_one_out_error =
      0.0;  // mean |predicted - measured| / measured over batches left out one at a time
  std::int64_t batch_min_samples = 0;
  std::int64_t batch_max_samples = 0;
  Seconds optimizer_step;
};

struct JitterFit {
  double iteration_cv = 0.0;
  std::optional<double> run_cv;  // absent when too few processes were measured to tell runs apart
  int processes = 0;
};

struct Profile {
  std::string path;
  std::string content_hash;  // FNV-1a of the file's bytes, in hexadecimal
  std::string network;
  std::string cpu_model;
  Bytes parameter_bytes;
  std::vector<ComputeFit> compute;  // by ascending cores
  BytesPerSecond server_accumulate_rate;
  BytesPerSecond server_step_rate;
  JitterFit jitter;

  // The fit for exactly this many cores, if it was measured.
  [[nodiscard]] const ComputeFit* find(int cores) const;
};

// Reads and checks a profile. Throws UserError naming the file and the offending field when it is missing,
// not JSON, of another format or version, incomplete, or holds impossible numbers.
[[nodiscard]] Profile read_profile(const std::filesystem::path& path);

}  // namespace paceline

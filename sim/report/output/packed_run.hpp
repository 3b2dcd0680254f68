// A run as it travels from the process that simulated it to the one that started it: lossless, compact
// (CBOR), its records by the columns of the result files.
#pragma once

#include <string>

#include "sim/report/recording/run_result.hpp"
#include "sim/report/statistics/run_summary.hpp"

namespace paceline {

struct FinishedRun {
  RunSummary summary;
  std::string message;  // why the job stalled, or remarks on the run
  std::string packed;   // the whole result, where it is wanted; packed
};

[[nodiscard]] std::string pack(const RunResult& result);
[[nodiscard]] RunResult unpack_result(const std::string& packed);

[[nodiscard]] std::string pack(const FinishedRun& run);
[[nodiscard]] FinishedRun unpack_finished(const std::string& packed);

}  // namespace paceline

// The CSV files of one scenario's runs. What each column means: columns.hpp.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "sim/report/recording/run_result.hpp"

namespace paceline {

// A phase as the scenario names it.
struct PhaseLabel {
  std::string policy;
  std::string transport;
};

[[nodiscard]] std::string summary_csv(const std::vector<RunResult>& runs);
// The row of one run in summary.csv, by column, as it stands there.
[[nodiscard]] std::vector<std::string> summary_cells(const RunResult& run);
[[nodiscard]] std::string curve_csv(const std::vector<RunResult>& runs, std::int64_t dataset_samples);
[[nodiscard]] std::string batches_csv(const std::vector<RunResult>& runs);
[[nodiscard]] std::string balance_csv(const std::vector<RunResult>& runs);
// `data_samples`: what each worker draws its batches from.
[[nodiscard]] std::string workers_csv(const std::vector<RunResult>& runs,
                                      const std::vector<std::int64_t>& data_samples);
[[nodiscard]] std::string staleness_csv(const std::vector<RunResult>& runs);
[[nodiscard]] std::string phases_csv(const std::vector<RunResult>& runs,
                                     const std::vector<PhaseLabel>& labels);
[[nodiscard]] std::string decisions_csv(const std::vector<RunResult>& runs);
[[nodiscard]] std::string attribution_csv(const std::vector<RunResult>& runs);
[[nodiscard]] std::string bottlenecks_csv(const std::vector<RunResult>& runs);
[[nodiscard]] std::string iterations_csv(const std::vector<RunResult>& runs);
// Of one run that has a trace.
[[nodiscard]] std::string activities_csv(const RunResult& run);

}  // namespace paceline

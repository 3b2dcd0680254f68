// Results folders made up by a test, as the results folder contract has them.
#pragma once

#include <filesystem>
#include <optional>
#include <string>
#include <vector>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "sim/base/atomic_file.hpp"
#include "tests/support/temporary_folder.hpp"

namespace paceline::testing {

namespace fs = std::filesystem;

using test::TemporaryFolder;

struct SyntheticRun {
  std::string name = "BSP";
  std::optional<double> target = 0.5;
  int replications = 3;
  int reached = 3;
  std::optional<double> median_s = 8.0;
  std::optional<double> low_s = 7.0;
  std::optional<double> high_s = 9.0;
  // Three replications with evaluations at 0, 4 and 8 s; quantiles are read off by eye.
  std::string curve =
      "replication,time_s,updates,samples,epoch,loss,accuracy\n"
      "0,0,0,0,0,2.3,0.1\n0,4,10,100,1,1.5,0.3\n0,8,20,200,2,1.0,0.5\n"
      "1,0,0,0,0,2.3,0.1\n1,4,10,100,1,1.5,0.4\n1,8,20,200,2,1.0,0.6\n"
      "2,0,0,0,0,2.3,0.1\n2,4,10,100,1,1.5,0.2\n2,8,20,200,2,1.0,0.7\n";
  std::string batches =
      "replication,time_s,updates,worker,batch_samples\n"
      "0,0,0,0,32\n0,0,0,1,32\n0,4,10,0,24\n0,4,10,1,40\n1,0,0,0,99\n";
  double end_s = 8.0;
  int diverged = 0;          // of the replications, the last ones: at 0.1 s
  std::string iterations{};  // iterations.csv and workers.csv; empty: no such file
  std::string workers{};
};

inline nlohmann::json or_null(const std::optional<double>& value) {
  return value ? nlohmann::json(*value) : nlohmann::json(nullptr);
}

inline fs::path write_run(const fs::path& folder, const SyntheticRun& run) {
  fs::create_directories(folder);
  const nlohmann::json manifest{{"format", "paceline-results"}, {"version", 1}, {"name", run.name}};
  write_file_atomically(folder / "manifest.json", manifest.dump());
  const nlohmann::json summary{
      {"name", run.name},
      {"target_accuracy", or_null(run.target)},
      {"replications", run.replications},
      {"reached", run.reached},
      {"time_to_accuracy_s",
       {{"median", or_null(run.median_s)}, {"low", or_null(run.low_s)}, {"high", or_null(run.high_s)}}}};
  write_file_atomically(folder / "summary.json", summary.dump());
  std::string rows = "replication,seed,reached,time_to_accuracy_s,end_time_s,end_reason\n";
  for (int r = 0; r < run.replications; ++r)
    rows += r < run.replications - run.diverged
                ? fmt::format("{},1,{},,{},\"stopped, or not\"\n", r, r < run.reached ? 1 : 0, run.end_s)
                : fmt::format("{},1,0,,0.1,diverged\n", r);
  write_file_atomically(folder / "summary.csv", rows);
  write_file_atomically(folder / "curve.csv", run.curve);
  write_file_atomically(folder / "batches.csv", run.batches);
  if (!run.iterations.empty()) write_file_atomically(folder / "iterations.csv", run.iterations);
  if (!run.workers.empty()) write_file_atomically(folder / "workers.csv", run.workers);
  return folder;
}

// Variants go to folders whose names say nothing, as sanitized names may.
inline fs::path write_study(const fs::path& folder, const std::vector<SyntheticRun>& runs) {
  std::vector<std::string> names;
  for (const SyntheticRun& run : runs) {
    write_run(folder / fmt::format("variant-{}", 9 - names.size()), run);
    names.push_back(run.name);
  }
  const nlohmann::json manifest{{"format", "paceline-study"}, {"version", 1}, {"variants", names}};
  write_file_atomically(folder / "manifest.json", manifest.dump());
  return folder;
}

}  // namespace paceline::testing

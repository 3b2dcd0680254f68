// The files of one scenario's runs. What each holds: result_files.hpp.
#pragma once

#include <filesystem>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include <nlohmann/json_fwd.hpp>

#include "sim/base/validity.hpp"
#include "sim/cost/profile.hpp"
#include "sim/report/recording/run_recorder.hpp"
#include "sim/report/recording/run_result.hpp"
#include "sim/report/statistics/expectations.hpp"
#include "sim/report/statistics/remarks.hpp"
#include "sim/report/statistics/time_to_accuracy.hpp"
#include "sim/scenario/reader.hpp"

namespace paceline {

struct ScenarioResults {
  LoadedScenario loaded;
  Profiles profiles;
  std::vector<RunResult> runs;             // by replication, without those that could not be carried out
  std::vector<std::string> failures;       // why they could not, one line each
  std::vector<std::string> network_model;  // settings of the network simulation, `name:value`
  std::vector<std::string> notes;          // defaults used and ranges left, one sentence each
  std::vector<ValidityRow> validity;  // what was asked of profiles and learner, and what they were fitted on
  std::vector<std::string> evidence = {};  // how far profiles and learner were off where it could be checked
  RecordingOptions recording;              // what was asked for beyond the usual
  std::string combination = {};            // of a study: the digest of everything that determines its runs
  std::string engine = {};                 // what carried the runs out; empty: the simulation
};

// How the results came to be, for the manifest and for the one file that may differ between equal runs.
struct Provenance {
  std::string command;         // reproduces the results
  double wall_time_s = 0.0;    // of all the runs together, as the user waited
  double peak_memory_mib = 0;  // of the largest process
  int jobs = 1;
  std::map<std::string, double> self_profile = {};  // seconds of all runs together, by part of this program
};

// Writes every file of the results folder into `folder`, which exists.
void write_results(const std::filesystem::path& folder, const ScenarioResults& results,
                   const Provenance& provenance);

// run-info.json: date, host, time and memory, the only file that differs between equal runs.
void write_run_info(const std::filesystem::path& folder, const Provenance& provenance);

// Every value of a scenario by its key, for a manifest.
[[nodiscard]] nlohmann::ordered_json resolved_values(const LoadedScenario& loaded);
// This program, for a manifest.
[[nodiscard]] nlohmann::ordered_json software_json();
// As they stand in summary.json and in what is printed for machines.
[[nodiscard]] nlohmann::ordered_json bottleneck_json(const std::optional<Bottleneck>& bottleneck);
[[nodiscard]] nlohmann::ordered_json expectations_json(const std::vector<ExpectationOutcome>& outcomes);

}  // namespace paceline

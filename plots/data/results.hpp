// What the figures need from a results folder, read and checked. Accuracies are fractions of 1.
//
// Folders written by `paceline run` and `paceline study` (manifest format version 1). A study holds one
// results folder per variant, whose manifest `name` is the variant's name.
#pragma once

#include <cstdint>
#include <filesystem>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "sim/base/csv.hpp"

namespace paceline::plots {

struct Evaluation {
  double time_s = 0.0;
  double accuracy = 0.0;
  double samples = 0.0;             // applied by then
  std::optional<double> loss = {};  // absent: not finite, or older results
};
using LearningCurve = std::vector<Evaluation>;  // never empty; times do not decrease

struct BatchChange {
  double time_s = 0.0;
  std::uint64_t worker = 0;
  double batch_samples = 0.0;
};

struct WorkerActivity {
  std::uint64_t worker = 0;
  std::string activity;
  double begin_s = 0.0;
  double end_s = 0.0;
};

struct WorkerUpdates {
  std::uint64_t worker = 0;
  std::uint64_t gradients = 0;
  double gradients_per_s = 0.0;
};

// Which ink a series has, the same in every figure: its colour, and how often that is there before it.
struct SeriesPlace {
  std::size_t colour = 0;
  std::size_t variation = 0;
  friend bool operator==(const SeriesPlace&, const SeriesPlace&) = default;
};

struct PlottedRun {
  std::filesystem::path folder;
  std::string name;         // free text; ends in "(assumed learner)" where the learner was assumed
  SeriesPlace series = {};  // among all that are drawn
  // Of a study that varies conditions: which these are, and the name without them.
  std::string at = {};
  std::string choice = {};
  std::optional<double> target_accuracy;
  std::uint64_t replications = 0;
  std::uint64_t reached = 0;
  std::uint64_t diverged = 0;
  std::uint64_t stalled = 0;
  std::optional<double> time_median_s;
  std::optional<double> time_low_s;
  std::optional<double> time_high_s;  // none: beyond the horizon
  double horizon_s = 0.0;             // end of the longest replication
  std::vector<double> end_times_s;    // of the whole job, by replication
  std::vector<double> work_times_s;   // the same of those jobs that did not diverge or stall
  std::vector<LearningCurve> curves;  // by replication
  // Over its workers and replications, by activity as activities.csv names it; empty in older results.
  std::map<std::string, double> attribution_percent;
  // Of replication 0:
  std::vector<BatchChange> batches;        // times do not decrease
  std::vector<WorkerActivity> activities;  // empty unless it was traced
  std::vector<double> compute_times_s;     // of all iterations; empty unless they were kept
  std::vector<WorkerUpdates> workers;      // empty in older results
  std::vector<double> staleness;  // gradients by the number of updates between; empty in older results

  // What a worker is: its name, or its cores where these differ; its number where nothing tells it apart.
  std::map<std::uint64_t, std::string> worker_names;
  std::vector<std::string> beyond_fit;  // quantities of the job that are not inside what was fitted
};

[[nodiscard]] inline std::string worker_name(const PlottedRun& run, std::uint64_t worker) {
  const auto found = run.worker_names.find(worker);
  return found == run.worker_names.end() ? std::to_string(worker) : found->second;
}

// Most of its runs diverged: what the others show is not what to expect.
[[nodiscard]] inline bool is_divergent(const PlottedRun& run) {
  return 2 * run.diverged > run.replications;
}

// A name as figures show it where no recorded runs stand behind the learner; without a name, that alone.
[[nodiscard]] std::string with_assumed_learner(const std::string& name);

// A table of results.
[[nodiscard]] CsvFile read_results_csv(const std::filesystem::path& path);

// Of a table of runs: whether this one diverged or stalled, so that its end is not that of its work. Older
// files do not say.
[[nodiscard]] bool is_cut_short(const CsvFile& runs, const CsvRow& row);

// Quantities that the jobs of a results or study folder ask for beyond what was fitted: "cores near".
[[nodiscard]] std::vector<std::string> quantities_beyond_fit(const std::filesystem::path& folder);

// The runs of a results folder (one) or a study folder (its variants, in the study's order).
// Throws UserError naming the file at fault.
[[nodiscard]] std::vector<PlottedRun> read_results(const std::filesystem::path& folder);

}  // namespace paceline::plots

// What the commands about studies share: the folder of a study and its store. Private to sim/commands.
#pragma once

#include <filesystem>
#include <optional>
#include <string>

#include "sim/cli/commands.hpp"
#include "sim/study/study_runs.hpp"

namespace paceline {

// "2/8". Throws UserError when it is not of that form.
[[nodiscard]] std::optional<Shard> parse_shard(const std::string& text);

// Reads and checks the study of the arguments.
[[nodiscard]] PreparedStudy prepare(const StudyArguments& arguments);

// Where the results go: --output, or results/NAME.
[[nodiscard]] std::filesystem::path folder_of(const StudyArguments& arguments, const PreparedStudy& study);

[[nodiscard]] bool is_study_folder(const std::filesystem::path& folder);

// The folder made ready: new, emptied with --force, or as an earlier run of the same study left it.
void make_folder_ready(const std::filesystem::path& folder, const PreparedStudy& study,
                       const StudyArguments& arguments);

// Only once the store is open, which no second process can be at work in.
void write_manifest(const std::filesystem::path& folder, const PreparedStudy& study);

// The store of a whole study, or of one of its shards.
[[nodiscard]] std::filesystem::path store_path(const std::filesystem::path& folder,
                                               const std::optional<Shard>& shard);

// Writes everything that follows from the store: runs.csv, comparison.csv, run-info.json, and compacts it.
struct RunInfo {
  double wall_time_s = 0.0;
  double peak_memory_mib = 0.0;
  int jobs = 1;
};
void write_study_results(const std::filesystem::path& folder, const PlannedStudy& study, RunStore& store,
                         const RunInfo& info);

// Says how many runs are done, failed and missing, and which failed; the exit code. Runs that nobody has made
// yet are no failure.
[[nodiscard]] int report_counts(const PlannedStudy& study, RunStore& store);

// The parts of `paceline study` that end by themselves.
int list_runs(const StudyArguments& arguments, PreparedStudy& study);
int run_single(const StudyArguments& arguments, PreparedStudy& study);
int submit_study(const StudyArguments& arguments, PreparedStudy& study);

}  // namespace paceline

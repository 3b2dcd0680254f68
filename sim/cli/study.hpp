// What the commands that simulate share, among them those about studies: folders, stores, reports. Private to
// sim/cli.
#pragma once

#include <filesystem>
#include <optional>
#include <string>
#include <vector>

#include "sim/cli/commands.hpp"
#include "sim/report/statistics/comparison.hpp"
#include "sim/study/study_runs.hpp"

namespace paceline {

// The command that makes the same results again: without the output folder, --force, --json and the number of
// jobs, which cannot change them.
[[nodiscard]] std::string reproducing_command(const std::string& subcommand, const RunArguments& arguments);

[[nodiscard]] ProfileUse use_of(const RunArguments& arguments);
[[nodiscard]] RecordingOptions recording_of(const RunArguments& arguments);

// Carries out some runs of the first combination and writes a results folder of them; making it ready took
// `reading_s`.
[[nodiscard]] ScenarioResults run_into_folder(PreparedStudy& study, const std::vector<PlannedRun>& runs,
                                              const std::filesystem::path& folder, const std::string& command,
                                              const RunArguments& arguments, double reading_s = 0.0);

void print_comparison(const std::vector<ComparedVariant>& compared, const std::filesystem::path& folder,
                      const RunArguments& arguments);

// Says on stderr which runs failed or stalled; the exit code. Stalled jobs are results, but not the ones
// asked
// for; runs that failed are none.
[[nodiscard]] int report_failures(const ScenarioResults& results);

// Says on stderr which expectations failed; the exit code, unless `status` is worse.
[[nodiscard]] int report_expectations(const std::vector<ComparedVariant>& compared, int status);

// Warnings (rendered) and notes, each once, on stderr.
void print_warnings(const std::vector<std::string>& warnings, const std::vector<std::string>& notes);

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
void write_study_results(const std::filesystem::path& folder, const PlannedStudy& study, RunStore& store,
                         const Provenance& provenance);

// Says how many runs are done, failed and missing, and which failed; the exit code. Runs that nobody has made
// yet are no failure.
[[nodiscard]] int report_counts(const PlannedStudy& study, RunStore& store);

// The parts of `paceline study` that end by themselves.
int list_runs(const StudyArguments& arguments, PreparedStudy& study);
int run_single(const StudyArguments& arguments, PreparedStudy& study);
int submit_study(const StudyArguments& arguments, PreparedStudy& study);

}  // namespace paceline

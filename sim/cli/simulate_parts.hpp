// What the commands that simulate have in common. Private to sim/cli.
#pragma once

#include <filesystem>
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

// Carries out some runs of the first combination and writes a results folder of them.
[[nodiscard]] ScenarioResults run_into_folder(PreparedStudy& study, const std::vector<PlannedRun>& runs,
                                              const std::filesystem::path& folder, const std::string& command,
                                              const RunArguments& arguments);

void print_comparison(const std::vector<ComparedVariant>& compared, const std::filesystem::path& folder,
                      const RunArguments& arguments);

// Says on stderr which expectations failed; the exit code, unless `status` is worse.
[[nodiscard]] int report_expectations(const std::vector<ComparedVariant>& compared, int status);

// Warnings (rendered) and notes, each once, on stderr.
void print_warnings(const std::vector<std::string>& warnings, const std::vector<std::string>& notes);

}  // namespace paceline

// What `run` and `study` say in common. Private to sim/commands.
#pragma once

#include <string>
#include <vector>

#include "sim/cli/commands.hpp"
#include "sim/report/statistics/comparison.hpp"

namespace paceline {

// The command that makes the same results again: without the output folder, --force, --json and the number of jobs,
// which cannot change them.
[[nodiscard]] std::string reproducing_command(const std::string& subcommand, const RunArguments& arguments);

// Says on stderr which expectations failed; the exit code, unless `status` is worse.
[[nodiscard]] int report_expectations(const std::vector<ComparedVariant>& compared, int status);

// Warnings (rendered) and notes, each once, on stderr.
void print_warnings(const std::vector<std::string>& warnings, const std::vector<std::string>& notes);

}  // namespace paceline

// The folder of a run, read back as far as comparisons need it.
#pragma once

#include <filesystem>

#include "sim/report/statistics/comparison.hpp"

namespace paceline {

// Throws UserError naming the file at fault.
[[nodiscard]] ComparedRuns read_compared_runs(const std::filesystem::path& folder);

}  // namespace paceline

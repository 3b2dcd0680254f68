// The folder of a run, read back as far as comparisons need it.
#pragma once

#include <filesystem>

#include "sim/report/statistics/comparison.hpp"

namespace paceline {

// Throws UserError naming the file at fault.
[[nodiscard]] ComparedRuns read_compared_runs(const std::filesystem::path& folder);

// The busiest resource of a results folder, if it was worth naming.
[[nodiscard]] std::optional<Bottleneck> bottleneck_in(const std::filesystem::path& folder);

}  // namespace paceline

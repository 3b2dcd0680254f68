// A recorded trace of speeds and bandwidths.
//
// The file is CSV with the header `time_s,worker,speed,bandwidth` (columns in any order; speed or bandwidth may be left
// out): factors relative to the worker as the scenario describes it, above 0; an empty cell changes nothing. Rows
// ascend in time; `worker` counts from 0; text after # is a comment.
#pragma once

#include <cstddef>
#include <filesystem>
#include <vector>

#include "sim/cluster/conditions.hpp"

namespace paceline {

// Throws UserError with file and line when the file is missing or a row makes no sense.
[[nodiscard]] std::vector<TraceRow> read_trace(const std::filesystem::path& path, std::size_t workers);

}  // namespace paceline

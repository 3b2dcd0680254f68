// The step times of each phase of a recorded run, apart from its pauses.
#pragma once

#include <filesystem>

#include "calibrate/learning/training_run.hpp"

namespace paceline {

// Reads the columns `wall_time_s` and `step` of the log and gives every phase of the run with enough records what
// calibrate/logs/step_log.hpp makes of them. A log without times, or with whole
// seconds for intervals below 50 s, leaves the phases as they are.
void add_step_times(TrainingRun& run, const std::filesystem::path& log);

}  // namespace paceline

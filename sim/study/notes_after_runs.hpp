// What is to be said of runs once they are known: ranges of the learner left, alarms raised.
#pragma once

#include <string>
#include <vector>

#include "sim/report/recording/run_result.hpp"
#include "sim/scenario/scenario.hpp"
#include "sim/study/input_files.hpp"

namespace paceline {

// One sentence each, about runs of one scenario.
[[nodiscard]] std::vector<std::string> notes_after(const Scenario& scenario,
                                                   const std::vector<RunResult>& runs, InputFiles& files);

}  // namespace paceline

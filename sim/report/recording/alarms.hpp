// How often a straggler detector raised an alarm, said after the runs.
//
// Models:      windows of workers, each judged slow or not; alarms after several slow windows in a row. On a
//              cluster in which nothing but chance changes a worker's speed every alarm is false.
// Equation:    false-alarm rate = alarms / windows judged, with its exact (Clopper-Pearson) 90 % interval;
//              beside it the share of windows judged slow.
// Units:       windows of one worker.
// Assumptions: windows are independent; a worker that is slow for a whole run is no false alarm's cause,
//              since it is compared with itself.
// Source:      Clopper and Pearson 1934 (time_to_accuracy.hpp).
#pragma once

#include <string>
#include <vector>

#include "sim/report/recording/run_result.hpp"
#include "sim/scenario/scenario.hpp"

namespace paceline {

// One sentence; nothing when nobody watched, or no window was completed.
[[nodiscard]] std::vector<std::string> alarm_notes(const Scenario& scenario,
                                                   const std::vector<RunResult>& runs);

}  // namespace paceline

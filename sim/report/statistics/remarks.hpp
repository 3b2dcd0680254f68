// What several runs show beside their times: the busiest link or server, and how often a straggler detector
// raised an alarm.
//
// Models:      servers (a FIFO queue works at its full rate whenever it works) and directions of links.
//              Windows of workers, each judged slow or not; alarms after several slow windows in a row. On a
//              cluster in which nothing but chance changes a worker's speed every alarm is false.
// Equation:    share of a resource = saturated time / makespan; over replications: the mean, a run without
//              the resource counting 0.
//              false-alarm rate = alarms / windows judged, with its 90 % interval;
//              beside it the share of windows judged slow.
// Units:       seconds; windows of one worker; shares as fractions of 1.
// Assumptions: a resource that is saturated for half of the makespan or more is worth naming; it need not be
//              on the critical path all that time. Windows are independent; a worker that is slow for a whole
//              run is no false alarm's cause, since it is compared with itself.
// Source:      time_to_accuracy.hpp for the interval.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "sim/report/recording/run_result.hpp"
#include "sim/scenario/scenario.hpp"

namespace paceline {

struct Bottleneck {
  std::string resource;
  double share = 0.0;
};

// The resource with the highest share, the first of equals; absent when that is below one half.
[[nodiscard]] std::optional<Bottleneck> find_bottleneck(const std::vector<RunResult>& runs);

// One sentence; nothing when nobody watched, or no window was completed.
[[nodiscard]] std::vector<std::string> alarm_notes(const Scenario& scenario,
                                                   const std::vector<RunResult>& runs);

}  // namespace paceline

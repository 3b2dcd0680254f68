// Seconds per step where a prediction can fail: other worker counts than those fitted, and delayed workers.
//
// Models:      a short job of the setting predicted, simulated with the costs of another setting of the same
//              network.
// Equation:    from N to W workers: costs of all recorded phases with N workers, in a cluster of W (null: the
//              step of N synchronous workers; an asynchronous mini-batch takes as long as with N). Delayed
//              workers: costs of the undelayed runs, and the delay one asynchronous delayed worker showed
//              (recorded_delay_s), on as many workers as the policy's name tells (null: the delay does
//              nothing).
// Units:       seconds per step, between pauses where the logs tell them; an asynchronous step is one
//              mini-batch.
// Assumptions: the same delay per iteration under either protocol; equal delays.
// Not modelled: longer pauses with more workers.
// Source:      the recorded settings of Sync-Switch, Li et al., ICDCS 2021, section VI.
#pragma once

#include <filesystem>
#include <string>
#include <vector>

#include "calibrate/learning/held_out.hpp"
#include "calibrate/learning/recorded_layout.hpp"

namespace paceline {

// A synchronous or asynchronous step time; `null_linear` holds the null model's. Nothing is recorded of some
// settings.
struct StepTimeRow {
  std::string from;  // what it was predicted from
  HeldOutRow row;
};

// Writes a profile and a scenario for each setting into `folder` and simulates them.
[[nodiscard]] std::vector<StepTimeRow> predict_step_times(const RecordedRuns& recorded,
                                                          const std::filesystem::path& folder, int jobs);

}  // namespace paceline

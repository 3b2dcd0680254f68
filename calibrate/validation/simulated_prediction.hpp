// Recorded settings simulated: the whole prediction, times from the simulator and accuracies from the learner
// it drives.
#pragma once

#include <filesystem>
#include <vector>

#include "calibrate/learning/prediction.hpp"
#include "sim/report/recording/run_result.hpp"

namespace paceline {

// Runs scenario files side by side, `jobs` processes at a time; results in the order of the files. Throws
// what run_whole throws.
struct SimulatedSetting {
  std::vector<RunResult> runs;
  std::vector<std::string> notes;  // ranges of the learner or the profile that were left
};
[[nodiscard]] std::vector<SimulatedSetting> simulate_settings(const std::vector<std::filesystem::path>& files,
                                                              int jobs);

// The runs as predictions of a plan with this batch; a run that diverged or stalled has no curve.
[[nodiscard]] PredictedRuns predicted_runs(const std::vector<RunResult>& runs, const TrainingPlan& plan);

}  // namespace paceline

// A recorded setting as files that anyone can run again, a profile of its worker and a scenario of its job;
// and simulated: times from the simulator and accuracies from the learner it drives.
//
// Models:      equal workers on a network that costs nothing (transfers are inside the recorded iteration),
//              the costs of recorded_costs.hpp, the plan of the recorded runs, a learner file.
// Equation:    compute time of a batch b = iteration · b / recorded batch; coordination per worker = serial
//              part.
// Units:       as the files say.
// Assumptions: evaluations are spaced as the median of the recorded ones, and free; one epoch is the
//              workload.
// Not modelled: start-up, ramp-up and the pause at a switch, which recorded training times leave out.
#pragma once

#include <filesystem>
#include <string>
#include <vector>

#include "calibrate/learning/prediction.hpp"
#include "calibrate/learning/recorded_costs.hpp"
#include "sim/report/recording/run_result.hpp"

namespace paceline {

struct Delay {
  int workers = 0;  // delayed, from the start to the end
  double seconds = 0.0;
};

struct RecordedSetting {
  std::string name;
  TrainingPlan plan;
  std::string profile;  // paths, relative to the scenario file
  std::string learner;  // empty: times only
  double evaluate_every_minibatches = 0.0;
  Delay delay{};
  int replications = 1;
};

[[nodiscard]] std::string profile_text(const RecordedCosts& costs, double batch_samples,
                                       const std::string& source);
// `costs` must know the serial part when the plan has synchronous phases.
[[nodiscard]] std::string scenario_text(const RecordedSetting& setting, const RecordedCosts& costs);

// The median spacing of the recorded evaluations, or a 32nd of the workload where there is no curve.
[[nodiscard]] double evaluation_spacing(const RunGroup& group);

// As a file name: letters, digits and dots; everything else becomes one dash.
[[nodiscard]] std::string file_name_of(const std::string& text);

struct SimulatedSetting {
  std::vector<RunResult> runs;
  std::vector<std::string> notes;  // ranges of the learner or the profile that were left
};
// Runs scenario files side by side, `jobs` processes at a time; results in the order of the files. Throws
// what run_whole throws.
[[nodiscard]] std::vector<SimulatedSetting> simulate_settings(const std::vector<std::filesystem::path>& files,
                                                              int jobs);
// The runs as predictions of a plan with this batch; a run that diverged or stalled has no curve.
[[nodiscard]] PredictedRuns predicted_runs(const std::vector<RunResult>& runs, const TrainingPlan& plan);

}  // namespace paceline

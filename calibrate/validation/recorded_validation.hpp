// How good the whole prediction is on every recorded run of a folder, each from fits that exclude its policy.
//
// Models:      for each campaign, every policy is predicted from a fit to the others, and the fixed folds
//              where their policies are there: the learner fitted to the other policies, driven by a
//              simulation whose costs come from the same runs (recorded_costs.hpp), the fit alone. Ranges,
//              and coverage over these and further folds (folds.hpp), come from replays timed by the steps of
//              the fitted runs; those of delayed workers by the simulated steps. Seconds per step apart:
//              step_time_validation.hpp.
// Equation:    every row and the null models: held_out.hpp.
// Units:       seconds, accuracies as fractions.
// Assumptions: delayed workers are known (recorded_policy.hpp); their delay comes from the
//              other runs. Where the fitted runs do not tell the times of a protocol, accuracies are
//              predicted without a simulation, and the notes say so.
// Not modelled: start-up, ramp-up and switches, which the recorded training times leave out.
// Source:      the recorded settings of Sync-Switch, Li et al., ICDCS 2021, section VI.
#pragma once

#include <filesystem>
#include <functional>
#include <string>
#include <vector>

#include "calibrate/validation/coverage.hpp"
#include "calibrate/validation/step_time_validation.hpp"

namespace paceline {

struct FoldResult {
  std::string name;  // "resnet50-cifar100: all but bsp" or a fixed fold
  std::vector<std::string> fitted_on;
  std::vector<HeldOutRow> rows;
};

struct RecordedValidation {
  std::vector<FoldResult> folds;
  std::vector<CoverageRow> coverage;
  std::vector<StepTimeRow> step_times;
  std::vector<std::string> notes;  // what could not be predicted, ranges that were left
};

struct ValidationOptions {
  const FormDescription* form = nullptr;
  std::filesystem::path folder;  // existing: gets learners/, profiles/, scenarios/, step-times/
  int jobs = 1;
  int replications = 100;            // simulated runs of each setting
  bool simulates = true;             // otherwise replays alone
  int members = 12;                  // of the ensemble of each fit
  std::filesystem::path learners{};  // of an earlier validation of the same folder: not fitted again
  bool same_cluster = false;
};

[[nodiscard]] RecordedValidation validate_recorded(
    const RecordedRuns& recorded, const ValidationOptions& options,
    const std::function<void(double, const std::string&)>& on_progress);

// Every row: predicted, recorded with its 90 % interval, error, errors of the null models; a summary of each
// fold.
[[nodiscard]] std::string validation_text(const RecordedValidation& validation);
[[nodiscard]] std::string validation_csv(const RecordedValidation& validation);

}  // namespace paceline

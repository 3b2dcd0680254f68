// How good the prediction is on every recorded run of a folder, each from fits that exclude its policy.
//
// Models:      learning: for each campaign, every policy is predicted from a fit to the others, and the fixed folds where
//              their policies are there. Clock: seconds per step and total time of a run from rates of the other runs.
// Equation:    clock, for a group of workers W and delayed workers d: rates are those of other runs with as many workers
//              and no delay. From N to W workers: an asynchronous mini-batch takes N/W of the time (null: as long), a
//              synchronous step W/N (a serial coordinator, proportional to the global batch; null: as long).
//              A delay adds t_d to a delayed worker's iteration, t_d from the asynchronous run with one delayed worker:
//              asynchronous rate = (W - d)/(W·s) + d/(W·s + t_d), s the undelayed seconds per mini-batch; a synchronous
//              step waits for the slowest: s + t_d (null: the undelayed step).
// Units:       seconds, accuracies as fractions.
// Assumptions: a policy's name tells delayed workers ("asp-10ms-2stragglers"); equal delays.
// Not modelled: reactions to stragglers; the network (the simulator does that, from a scenario).
// Source:      reference/sync-switch.md, sections 4, 8 and 10.
#pragma once

#include <functional>
#include <string>
#include <vector>

#include "sim/fit/held_out.hpp"
#include "sim/fit/recorded_layout.hpp"

namespace paceline {

struct FoldResult {
  std::string name;  // "resnet50-cifar100: all but bsp" or a fixed fold
  std::vector<std::string> fitted_on;
  std::vector<HeldOutRow> rows;
};

struct StepTimeRow {
  std::string group;
  std::string from;  // what it was predicted from
  bool synchronous = true;
  double predicted_s = 0.0;
  double recorded_s = 0.0;
  double null_s = 0.0;
};

struct RecordedValidation {
  std::vector<FoldResult> folds;
  std::vector<StepTimeRow> step_times;
  std::vector<std::string> notes;  // what could not be predicted, and why
};

[[nodiscard]] RecordedValidation validate_recorded(
    const RecordedRuns& recorded, const FormDescription& form,
    const std::function<void(double, const std::string&)>& on_progress);

[[nodiscard]] std::string validation_csv(const RecordedValidation& validation);

// Delayed workers a policy's name tells: 2 of "asp-10ms-2stragglers".
[[nodiscard]] int delayed_workers(const std::string& policy);
[[nodiscard]] std::vector<StepTimeRow> predict_step_times(const RecordedRuns& recorded);

}  // namespace paceline

// Recorded runs in the layout of the Sync-Switch curves.
//
// Models:      DIR/runs.csv (one row per run: setup, policy, run, date_utc, workload_minibatches, lr_drop_basis,
//              end_step, final_accuracy, training_time_s), DIR/phases.csv (setup, policy, run, protocol, workers, steps,
//              seconds_per_step), DIR/<setup>/<policy>/run<k>/{accuracy,loss}.csv (step, value; loss.csv may have wall_time_s).
// Equation:    policy `bsp` or `asp`, or phases with their percentages: `bsp12.5-asp87.5`; what follows is a remark
//              (`bsp05-asp95-baseline`). Drop basis `workload50`: x 0.1 at 50 % and 75 % of the workload; `step32000`:
//              at global steps 32,000 and 48,000.
// Units:       mini-batches of 128 samples; steps as in training_plan.hpp.
// Assumptions: learning rate 0.1 per gradient, momentum 0.9; the setup's name ends in `cifar10-N` or `cifar100-N`, else
//              10 classes (the latency study). Runs of one network of before and from September 2020 are different
//              campaigns and never pooled (caution 6 of that data's README). A run without a recorded workload did the
//              steps it did.
// Not modelled: other layouts (see the `logs` of `paceline fit`).
// Source:      README of the recorded curves; reference/sync-switch.md, sections 2 and 3.
#pragma once

#include <filesystem>
#include <string>
#include <vector>

#include "calibrate/learning/training_run.hpp"

namespace paceline {

struct Campaign {
  std::string name;  // "resnet32-cifar10, until August 2020"
  std::vector<RunGroup> groups;
};

struct RecordedRuns {
  std::vector<Campaign> campaigns;  // in the order of the file
  std::vector<std::string> notes;   // defects that were skipped
};

// Throws UserError when a file is missing or not of this layout, and for defective logs unless `skip_bad`.
[[nodiscard]] RecordedRuns read_recorded_runs(const std::filesystem::path& folder, bool skip_bad);

// The phases a policy's name stands for. Throws UserError for a name of another form.
[[nodiscard]] std::vector<PlanPhase> phases_of_policy(const std::string& policy, double workload_minibatches);

}  // namespace paceline

// Recorded runs in the layout of the Sync-Switch curves.
//
// Models:      DIR/runs.csv (one row per run: setup, policy, run, date_utc, workload_minibatches,
//              lr_drop_basis, end_step, final_accuracy, training_time_s), DIR/phases.csv (setup, policy,
//              run, protocol, workers, steps, seconds_per_step; `source`, where given: after `loss_csv`
//              training times end with the last loss recorded, not with the job),
//              DIR/<setup>/<policy>/run<k>/{accuracy,loss}.csv (step, value; loss.csv may have
//              wall_time_s).
// Equation:    what a policy did: recorded_policy.hpp. Drop basis `workload50`: x 0.1 at 50 % and 75 % of the
//              workload; `step32000`: at global steps 32,000 and 48,000.
// Units:       mini-batches of 128 samples; steps as in training_run.hpp.
// Assumptions: learning rate 0.1 per gradient, momentum 0.9; the setup's name ends in `cifar10-N` or
//              `cifar100-N`, else 10 classes (the latency study). Runs of one network of before and from
//              September 2020 are different campaigns and never pooled: their settings differ. A run without
//              a recorded workload did the steps it did.
// Not modelled: other layouts (logs_file.hpp).
// Source:      README of the curves published with Sync-Switch, Li et al., ICDCS 2021.
#pragma once

#include <filesystem>
#include <string>
#include <vector>

#include "calibrate/learning/training_run.hpp"
#include "sim/cost/identity.hpp"

namespace paceline {

struct Campaign {
  std::string name;   // "resnet32-cifar10, until August 2020"
  Identity identity;  // network and data set by the name, as scenarios name them
  std::vector<RunGroup> groups;
};

struct RecordedRuns {
  std::vector<Campaign> campaigns;  // in the order of the file
  std::vector<std::string> notes;   // policies and defects that were skipped
};

// Throws UserError when a file is missing or not of this layout, and for defective logs unless `skip_bad`.
[[nodiscard]] RecordedRuns read_recorded_runs(const std::filesystem::path& folder, bool skip_bad);

// "resnet32-cifar10-8" and "bsp02-asp98" of "resnet32-cifar10-8/bsp02-asp98 (step32000)".
[[nodiscard]] std::string setup_of(const std::string& group);
[[nodiscard]] std::string policy_of(const std::string& group);

// Gives every phase of the run the step time and the pauses that the columns `wall_time_s` and `step` of the
// log tell (recorded_times.hpp). A phase of fewer than 5 records, or of whole seconds for intervals below
// 50 s, stays as it is.
void add_step_times(TrainingRun& run, const std::filesystem::path& log);

}  // namespace paceline

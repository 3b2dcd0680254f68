// A YAML file that says where recorded curves lie and how their runs were trained.
//
// Models:      groups of runs that differ by chance only; each run's curves are CSV files read by column
//              names.
// Equation:    training_run.hpp.
// Units:       the workload in mini-batches of `batch` samples; steps as `step` says.
// Assumptions: equal workers (staleness comes from the replay).
// Not modelled: batch controllers, stragglers.
//
//   name: my-task
//   network: my-network         # as scenarios name it; with `parameters: 11162` where they are known
//   dataset: my-images
//   classes: 10
//   columns: {step: step, accuracy: value, loss: value, run: replication}   # `run`: files of several runs
//   groups:
//     - name: bsp
//       workers: 4
//       batch: 32                 # samples of a mini-batch
//       learning_rate: 0.05       # of one gradient; times the gradients combined in an update
//       momentum: 0.9
//       workload: 4000            # mini-batches
//       phases: [{policy: bsp, share: 100 %}]   # `local_steps: 16`: workers take their mean so often, each
//                                 # at `learning_rate`
//       drops: [50 %, 75 %]       # of the workload
//       drop_factor: 0.1
//       step: updates             # or minibatches, or samples
//       checkpoints: {every: 2000, iterations: 70}   # how long the first worker stands still under asp
//       runs: [{accuracy: a.csv, loss: l.csv, run: 0}]   # without `run`: every run of the file
#pragma once

#include <filesystem>
#include <string>
#include <vector>

#include "calibrate/learning/training_run.hpp"
#include "sim/cost/identity.hpp"

namespace paceline {

struct TrainingLogs {
  std::string name;
  Identity identity;  // of what was trained
  std::vector<RunGroup> groups;
  std::vector<std::string> notes;  // defects that were skipped
};

// Throws UserError with every mistake of the file, or with the defects of the logs unless `skip_bad`.
[[nodiscard]] TrainingLogs read_logs_file(const std::filesystem::path& file, bool skip_bad);

}  // namespace paceline

// What a recorded policy did: by its name, or by a file beside the runs.
//
// Models:      names of phases and their percentages, `asp` or `bsp12.5-asp87.5`, and words after them that
//              change nothing or tell delayed workers: `baseline`, `no-straggler`, `10ms`, `2stragglers`. A
//              name with any other word (greedy, elastic, …) does not say what was done.
// Equation:    none.
// Units:       shares of the workload; seconds.
// Assumptions: momentum 0.9 where no file says otherwise.
// Not modelled: reactions to stragglers.
// Source:      names of the runs published with Sync-Switch, Li et al., ICDCS 2021.
//
// The file, policies.yaml beside runs.csv:
//   policies:
//     - name: bsp05-asp95-greedy        # as in runs.csv, or SETUP/NAME
//       phases: [{policy: bsp, share: 5 %}, {policy: asp, share: 95 %}]
//       momentum: 0.9
//       delayed_workers: 1
//       added_latency: 10 ms
#pragma once

#include <filesystem>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "calibrate/learning/training_run.hpp"

namespace paceline {

struct RecordedPolicy {
  std::vector<PlanPhase> phases;  // of a workload of 1
  double momentum = 0.9;
  int delayed_workers = 0;
  std::optional<double> added_latency_s{};
};

// Nothing for a name that does not say what was done.
[[nodiscard]] std::optional<RecordedPolicy> policy_of_name(const std::string& policy);

// By name; empty without the file. Throws UserError with every mistake of the file.
[[nodiscard]] std::map<std::string, RecordedPolicy> read_policies(const std::filesystem::path& file);

}  // namespace paceline

#include "calibrate/asynchronous/further_runs.hpp"

#include <fmt/format.h>

#include "calibrate/learning/recorded_layout.hpp"
#include "sim/base/diagnostic.hpp"

namespace paceline {

std::vector<AccuracyRun> further_runs(const std::filesystem::path& folder) {
  std::vector<AccuracyRun> further;
  if (folder.empty()) return further;
  for (const Campaign& campaign : read_recorded_runs(folder, true).campaigns)
    for (const RunGroup& group : campaign.groups) {
      if (policy_of(group.name) != "asp" || group.plan().workload_minibatches() != training_updates) continue;
      for (const TrainingRun& run : group.runs) {
        if (run.classes != 10) continue;
        AccuracyRun& added = further.emplace_back();
        added = {group.name, exposure_of(run.plan.workers), run.final_accuracy, {}};
        for (const PositionedValue& point : run.accuracy)
          added.curve.push_back({0.0, point.minibatches / training_updates, point.value});
      }
    }
  if (further.empty())
    throw UserError(
        fmt::format("{} holds no asynchronous run of {} updates", folder.string(), training_updates),
        "leave --joint out");
  return further;
}

}  // namespace paceline

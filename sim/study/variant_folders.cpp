#include "sim/study/variant_folders.hpp"

#include <fmt/format.h>

#include "sim/engine/simgrid/simgrid_timeline.hpp"
#include "sim/report/output/staged_folder.hpp"
#include "sim/study/notes_after_runs.hpp"
#include "sim/study/replications.hpp"

namespace paceline {
namespace {

ScenarioResults results_of(PreparedStudy& study, std::size_t point, const RecordingOptions& recording) {
  LoadedScenario loaded = study.scenario(point);
  const std::shared_ptr<const Profiles> profiles = study.files.profiles_of(loaded);
  std::vector<std::string> notes = check_before_running(loaded, *profiles, study.files);
  if (study.use == ProfileUse::drawn) notes.push_back(check_drawing(loaded, *profiles));
  std::vector<std::string> network_model = network_model_text(loaded.scenario.cluster.network.model);
  return {.loaded = std::move(loaded),
          .profiles = *profiles,
          .runs = {},
          .failures = {},
          .network_model = std::move(network_model),
          .notes = std::move(notes),
          .recording = recording};
}

}  // namespace

std::vector<ScenarioResults> write_variant_folders(PreparedStudy& study, const RecordingOptions& recording,
                                                   const std::filesystem::path& folder,
                                                   const Provenance& provenance, RunStore& store) {
  std::vector<ScenarioResults> all;
  for (std::size_t p = 0; p < study.planned.points.size(); ++p)
    all.push_back(results_of(study, p, recording));
  store.for_each_run([&](const StoredRun& run) {
    ScenarioResults& results = all[run.point];
    if (run.status == RunStatus::done) {
      results.runs.push_back(unpack(store.packed(run.id)));
    } else {
      results.failures.push_back(fmt::format("replication {}: {}", run.replication, run.message));
    }
  });
  for (std::size_t p = 0; p < all.size(); ++p) {
    ScenarioResults& results = all[p];
    if (results.runs.empty()) continue;  // its failures are told with those of all runs
    for (std::string& note : notes_after(results.loaded.scenario, results.runs, study.files))
      results.notes.push_back(std::move(note));
    StagedFolder staged(folder / study.plan.folder(p), true);
    write_results(staged.path(), results, provenance);
    staged.commit();
  }
  std::erase_if(all, [](const ScenarioResults& results) { return results.runs.empty(); });
  return all;
}

}  // namespace paceline

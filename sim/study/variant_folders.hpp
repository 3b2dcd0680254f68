// Results folders of a study's combinations, from the whole results in its store.
#pragma once

#include <filesystem>
#include <vector>

#include "sim/report/output/results_folder.hpp"
#include "sim/study/study_runs.hpp"

namespace paceline {

// One folder for each combination, each written whole or not at all. Returns what they hold. Throws SimulationFailed when
// not one run of a combination could be carried out.
std::vector<ScenarioResults> write_variant_folders(PreparedStudy& study, const RecordingOptions& recording,
                                                   const std::filesystem::path& folder,
                                                   const Provenance& provenance, RunStore& store);

}  // namespace paceline

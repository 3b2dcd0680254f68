// A study made ready to run: every combination read, checked and named, each made again only where it is needed.
//
// Models:      thousands of runs of which each process holds one scenario.
// Assumptions: files that scenarios name do not change meanwhile.
// Source:      design sections 5 (common random numbers) and 10.
#pragma once

#include <optional>
#include <set>
#include <string>
#include <vector>

#include "sim/report/recording/run_recorder.hpp"
#include "sim/scenario/sweep/study_plan.hpp"
#include "sim/study/input_files.hpp"
#include "sim/study/simulation.hpp"
#include "sim/study/store/run_store.hpp"

namespace paceline {

struct PreparedStudy {
  StudyPlan plan;
  PlannedStudy planned;  // the same combinations, as the store keeps them
  InputFiles files;
  ProfileUse use = ProfileUse::as_fitted;
  std::vector<std::string> notes;          // each once
  std::vector<std::string> warnings;       // rendered, each once
  bool expects = false;                    // some combination has an `expect`
  std::set<std::size_t> network_points;    // combinations that train a network
  std::vector<std::string> network_model;  // settings of the network simulation, of the first combination

  [[nodiscard]] LoadedScenario scenario(std::size_t point) const;
};

// Reads a study and whatever its scenarios name. Throws UserError for everything that is wrong with any combination.
[[nodiscard]] PreparedStudy prepare_study(const std::filesystem::path& file,
                                          const std::vector<std::string>& overrides, ProfileUse use);

// What the store keeps of a scenario under the name of its combination.
[[nodiscard]] PlannedPoint planned_point(const LoadedScenario& loaded, InputFiles& files, ProfileUse use);

// A part of the runs: number `index` (from 1) of `count`.
struct Shard {
  std::size_t index = 1;
  std::size_t count = 1;
};

struct PlannedRun {
  std::size_t point = 0;
  std::uint32_t replication = 0;
  std::string id;
};

// The runs of a shard that are not in `done`, each id once. Replications vary slowest, so that a study that is watched
// or interrupted has every combination early.
[[nodiscard]] std::vector<PlannedRun> missing_runs(const PlannedStudy& study,
                                                   const std::set<std::string>& done,
                                                   const std::optional<Shard>& shard);

struct RunOptions {
  int jobs = 1;
  bool keep_whole = false;  // results as a whole, for folders
  RecordingOptions recording;
};

// What can unpack a whole result: this build, and what was recorded.
[[nodiscard]] std::string packed_by(const RecordingOptions& recording);

// Simulates, and puts each run into the store as it ends; a run that fails is kept with its message. Returns the memory
// of the largest simulation, in MiB.
double run_into_store(PreparedStudy& study, const std::vector<PlannedRun>& runs, const RunOptions& options,
                      RunStore& store);

}  // namespace paceline

// Everything that simulates takes this way: a study made ready, the runs of it that are missing, and the
// store they go into.
//
// Replication r of every combination has the same seed pair (seed, r): variants compared side by side meet
// the same jitter, data order and initial parameters wherever they ask for the same draw.
#pragma once

#include <cstdint>
#include <filesystem>
#include <optional>
#include <set>
#include <stdexcept>
#include <string>
#include <vector>

#include "sim/report/output/results_folder.hpp"
#include "sim/study/prepared_study.hpp"
#include "sim/study/store/run_store.hpp"

namespace paceline {

// A run that could not be carried out (as opposed to one whose job failed inside the simulation: that is a
// result).
class SimulationFailed : public std::runtime_error {
 public:
  using std::runtime_error::runtime_error;
};

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

// The runs of a shard that are not in `done`, each id once. Replications vary slowest, so that a study that
// is watched or interrupted has every combination early.
[[nodiscard]] std::vector<PlannedRun> missing_runs(const PlannedStudy& study,
                                                   const std::set<std::string>& done,
                                                   const std::optional<Shard>& shard = std::nullopt);

struct RunOptions {
  int jobs = 1;
  bool keep_whole = false;  // results as a whole, for folders
  RecordingOptions recording = {};
  std::uint32_t traced = 0;      // the replication that stands for the others: a trace shows one run
  bool throws_mistakes = false;  // a user's mistake that only a run finds out ends all runs
};

// What can unpack a whole result: this build, and what was recorded.
[[nodiscard]] std::string packed_by(const RecordingOptions& recording);

// Simulates, and puts each run into the store as it ends; a run that fails is kept with its message. Returns
// the memory of the largest simulation, in MiB.
double run_into_store(PreparedStudy& study, const std::vector<PlannedRun>& runs, const RunOptions& options,
                      RunStore& store);

// The results of each combination, from runs that the store keeps whole.
[[nodiscard]] std::vector<ScenarioResults> whole_results(PreparedStudy& study,
                                                         const RecordingOptions& recording, RunStore& store);

struct WholeRuns {
  std::vector<ScenarioResults> variants;  // in the order of the study
  double peak_memory_mib = 0.0;
};

// Carries out some runs of a study for their whole results, which no file keeps; but an interruption
// leaves the finished ones in `unfinished`, if it is named, and those there are taken over. Throws
// UserError for a mistake that only a run finds out, and SimulationFailed when not one run of a
// combination could be carried out.
[[nodiscard]] WholeRuns run_whole(PreparedStudy& study, const std::vector<PlannedRun>& runs, int jobs,
                                  const RecordingOptions& recording,
                                  const std::filesystem::path& unfinished = {});

// Remarks on runs of one scenario once they are known: ranges of the learner left, alarms raised.
[[nodiscard]] Notes notes_after(const Scenario& scenario, const std::vector<RunResult>& runs,
                                InputFiles& files);

// Throws UserError for all that the learner `network` would refuse in a run: an unknown network, a module
// that is missing, data that cannot be read. Each network and data set is tried once, in a process of its
// own.
void try_network_learners(PreparedStudy& study);

}  // namespace paceline

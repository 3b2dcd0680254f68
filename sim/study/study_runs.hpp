// Everything that simulates takes this way: a study made ready, the runs of it that are missing, and the
// store they go into.
//
// A single scenario is a study of one point. Every combination is read, checked and named once, and made
// again only where it is needed, so that of thousands of runs each process holds one scenario. Replication r
// of every combination has the same seed pair (seed, r): variants compared side by side meet the same jitter,
// data order and initial parameters wherever they ask for the same draw.
#pragma once

#include <optional>
#include <set>
#include <stdexcept>
#include <string>
#include <utility>
#include <vector>

#include "sim/report/output/results_folder.hpp"
#include "sim/scenario/sweep/study_plan.hpp"
#include "sim/study/evidence.hpp"
#include "sim/study/input_files.hpp"
#include "sim/study/simulation.hpp"
#include "sim/study/store/run_store.hpp"

namespace paceline {

// A run that could not be carried out (as opposed to one whose job failed inside the simulation: that is a
// result).
class SimulationFailed : public std::runtime_error {
 public:
  using std::runtime_error::runtime_error;
};

// What is worth saying about runs: each text once, with the number of runs it is about unless that is all of
// them.
class Notes {
 public:
  void add(const std::vector<std::string>& texts, std::size_t runs);
  void add(const std::string& text) { add(std::vector{text}, all); }
  void add(const Notes& more);
  // `runs` of them altogether.
  [[nodiscard]] std::vector<std::string> lines(std::size_t runs) const;

 private:
  static constexpr std::size_t all = 0;  // about all runs
  std::vector<std::pair<std::string, std::size_t>> texts_;
};

struct PreparedStudy {
  StudyPlan plan;                         // of a study file
  std::vector<LoadedScenario> scenarios;  // where there is none
  PlannedStudy planned;                   // the same combinations, as the store keeps them
  InputFiles files;
  ProfileUse use = ProfileUse::as_fitted;
  Notes notes;
  std::vector<std::string> warnings;       // rendered, each once
  Evidence evidence;                       // of its profiles and learners
  bool expects = false;                    // some combination has an `expect`
  std::set<std::size_t> network_points;    // combinations that train a network
  std::vector<std::string> network_model;  // settings of the network simulation, of the first combination

  [[nodiscard]] std::vector<std::string> note_lines() const { return notes.lines(planned.run_count()); }
  [[nodiscard]] LoadedScenario scenario(std::size_t point) const;
  // Checks one more combination and gives its number.
  std::size_t add(const LoadedScenario& loaded, std::vector<std::string> labels = {});
};

// Reads a study and whatever its scenarios name. Throws UserError for everything that is wrong with any
// combination.
[[nodiscard]] PreparedStudy prepare_study(const std::filesystem::path& file,
                                          const std::vector<std::string>& overrides, ProfileUse use);
// The same for one scenario.
[[nodiscard]] PreparedStudy prepare_scenario(const std::filesystem::path& file,
                                             const std::vector<std::string>& overrides, ProfileUse use);
[[nodiscard]] PreparedStudy prepare_scenarios(std::vector<LoadedScenario> scenarios, ProfileUse use);

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

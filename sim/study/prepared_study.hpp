// A study made ready to run.
//
// A single scenario is a study of one point. Every combination is read, checked and named once, and made
// again only where it is needed, so that of thousands of runs each process holds one scenario.
#pragma once

#include <cstddef>
#include <filesystem>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "sim/scenario/sweep/study_plan.hpp"
#include "sim/study/evidence.hpp"
#include "sim/study/input_files.hpp"
#include "sim/study/simulation.hpp"
#include "sim/study/store/run_store.hpp"

namespace paceline {

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

}  // namespace paceline

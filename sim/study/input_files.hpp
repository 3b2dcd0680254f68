// The files that scenarios of a study name, each read once: profiles, learners, traces.
//
// Assumptions: none of them changes while the study runs.
#pragma once

#include <filesystem>
#include <map>
#include <memory>
#include <string>

#include "sim/cost/profile.hpp"
#include "sim/learning/statistical_model.hpp"
#include "sim/scenario/reader.hpp"

namespace paceline {

class InputFiles {
 public:
  [[nodiscard]] const Profile& profile(const std::filesystem::path& path);
  [[nodiscard]] const StatisticalModel& learner(const std::filesystem::path& path);
  // Of a file's bytes; of nothing when it cannot be read.
  [[nodiscard]] const std::string& hash(const std::filesystem::path& path);
  // The profiles of a scenario; scenarios that name the same ones share them. Throws UserError at the place
  // that names a missing one.
  [[nodiscard]] std::shared_ptr<const Profiles> profiles_of(const LoadedScenario& loaded);

 private:
  std::map<std::filesystem::path, Profile> profiles_;
  std::map<std::filesystem::path, StatisticalModel> learners_;
  std::map<std::filesystem::path, std::string> hashes_;
  std::map<std::string, std::shared_ptr<const Profiles>> combinations_;
};

// Everything that determines the runs of a scenario but the replication: its values, with what its files hold
// in place of their paths. Names, questions, expectations and the number of replications do not.
[[nodiscard]] std::string scenario_digest(const LoadedScenario& loaded, InputFiles& files,
                                          bool draws_profile);

}  // namespace paceline

#include "sim/cli/shipped_files.hpp"

#include <algorithm>
#include <fstream>
#include <string>
#include <utility>

#include <nlohmann/json.hpp>

#include "sim/base/diagnostic.hpp"

namespace paceline {
namespace {

namespace fs = std::filesystem;

std::vector<fs::path> json_files_below(const fs::path& folder) {
  std::vector<fs::path> files;
  for (const fs::directory_entry& entry : fs::recursive_directory_iterator(folder))
    if (entry.is_regular_file() && entry.path().extension() == ".json") files.push_back(entry.path());
  std::ranges::sort(files);
  return files;
}

bool has_format(const fs::path& file, std::string_view format) {
  std::ifstream stream(file);
  const auto document = nlohmann::json::parse(stream, nullptr, false);
  return document.is_object() && document.contains("format") && document["format"] == format;
}

// Measured before derived, then the one with the most core counts.
std::pair<bool, std::size_t> preference(const Profile& profile) {
  return {!profile.is_derived, profile.compute.size()};
}

}  // namespace

fs::path shipped_scenarios() {
  const fs::path program = fs::read_symlink("/proc/self/exe").parent_path();
  std::error_code ignored;
  for (const fs::path& place : {program / "share", program.parent_path() / "share"})
    if (const fs::path folder = place / "paceline/scenarios"; fs::is_directory(folder, ignored))
      return fs::canonical(folder);
  throw UserError("the shipped profiles and learners are not where this program looks for them",
                  "share/paceline/scenarios lies beside its folder once installed");
}

std::vector<Profile> profiles_below(const fs::path& folder) {
  std::vector<Profile> profiles;
  for (const fs::path& file : json_files_below(folder))
    if (has_format(file, "paceline-profile")) profiles.push_back(read_profile(file));
  return profiles;
}

std::vector<StatisticalModel> learners_below(const fs::path& folder) {
  std::vector<StatisticalModel> learners;
  for (const fs::path& file : json_files_below(folder))
    if (has_format(file, "paceline-learner")) learners.push_back(read_statistical_model(file));
  return learners;
}

std::optional<Profile> shipped_profile(const std::string& network) {
  std::optional<Profile> best;
  for (Profile& profile : profiles_below(shipped_scenarios()))
    if (profile.network == network && (!best || preference(profile) > preference(*best)))
      best = std::move(profile);
  return best;
}

std::optional<StatisticalModel> shipped_learner(const Identity& job) {
  for (StatisticalModel& learner : learners_below(shipped_scenarios() / "learners"))
    if (job.network && learner.identity.network == job.network && !differ(learner.identity, job) &&
        learner.validity.local_steps_max == 0.0)
      return std::move(learner);
  return std::nullopt;
}

}  // namespace paceline

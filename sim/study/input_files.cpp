#include "sim/study/input_files.hpp"

#include "sim/base/atomic_file.hpp"
#include "sim/base/diagnostic.hpp"
#include "sim/cost/profile.hpp"
#include "sim/study/checks_before_running.hpp"
#include "sim/study/store/content_hash.hpp"

namespace paceline {
namespace {

bool says_nothing_about_runs(std::string_view key) {
  return key == "name" || key == "question" || key == "replications" || key.starts_with("expect.") ||
         (key.starts_with("cluster.workers.") && (key.ends_with(".name") || key.ends_with(".price")));
}

// Whose value is the path of a file that determines the runs.
bool names_a_file(std::string_view key) {
  return key == "job.profile" || key == "learner.model" || key == "heterogeneity.trace" ||
         (key.starts_with("cluster.workers.") && key.ends_with(".profile"));
}

// What was read from a path, now or before.
template <class Value, class Read>
const Value& known(std::map<std::filesystem::path, Value>& values, const std::filesystem::path& path,
                   const Read& read) {
  const auto found = values.find(path);
  return found != values.end() ? found->second : values.emplace(path, read(path)).first->second;
}

}  // namespace

const Profile& InputFiles::profile(const std::filesystem::path& path) {
  return known(profiles_, path, read_profile);
}

const StatisticalModel& InputFiles::learner(const std::filesystem::path& path) {
  return known(learners_, path, read_statistical_model);
}

const std::string& InputFiles::hash(const std::filesystem::path& path) {
  return known(hashes_, path, [](const std::filesystem::path& file) {
    std::error_code ignored;
    return std::filesystem::is_regular_file(file, ignored) ? content_hash(read_file(file)) : std::string();
  });
}

std::shared_ptr<const Profiles> InputFiles::profiles_of(const LoadedScenario& loaded) {
  std::string names = loaded.scenario.job.profile.string();
  for (const Worker& worker : loaded.scenario.cluster.workers) names += '\n' + worker.profile;
  std::shared_ptr<const Profiles>& known = combinations_[names];
  if (!known) known = std::make_shared<const Profiles>(read_profiles(loaded, *this));
  return known;
}

std::string scenario_digest(const LoadedScenario& loaded, InputFiles& files, bool draws_profile) {
  ContentHash hash;
  for (const ResolvedValue& value : loaded.values) {
    if (value.is_absent || says_nothing_about_runs(value.key) || names_a_file(value.key)) continue;
    hash.add(value.key).add(value.value);
  }
  const Scenario& scenario = loaded.scenario;
  hash.add(files.hash(scenario.job.profile));
  for (std::size_t w = 0; w < scenario.cluster.workers.size(); ++w)
    if (const std::string& own = scenario.cluster.workers[w].profile; !own.empty())
      hash.add(std::to_string(w)).add(files.hash(own));
  if (uses_model(scenario) || scenario.learner.trains_file()) hash.add(files.hash(scenario.learner.model));
  if (!scenario.heterogeneity.trace.empty()) hash.add(files.hash(scenario.heterogeneity.trace));
  if (draws_profile) hash.add("profile-uncertainty");
  return hash.text();
}

}  // namespace paceline

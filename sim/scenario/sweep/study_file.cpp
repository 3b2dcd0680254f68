#include "sim/scenario/sweep/study_file.hpp"

#include <algorithm>

#include "sim/description/outputs.hpp"
#include "sim/scenario/sweep/study_text.hpp"

namespace paceline {
namespace {

constexpr std::size_t maximum_folder_length = 100;

}  // namespace

Study load_study(const std::filesystem::path& file, std::span<const std::string> overrides) {
  std::vector<LoadedScenario> scenarios;
  const StudyPlan plan = load_study_plan(
      file, overrides, [&](std::size_t, LoadedScenario& loaded) { scenarios.push_back(std::move(loaded)); });
  Study study{plan.name, plan.question, file, {}};
  for (std::size_t i = 0; i < plan.points.size(); ++i)
    study.variants.push_back({plan.points[i].name, std::move(scenarios[i])});
  return study;
}

std::string folder_name(std::string_view name) {
  std::string folder;
  for (const char c : name) {
    const char lower = c >= 'A' && c <= 'Z' ? static_cast<char>(c - 'A' + 'a') : c;
    const bool kept = (lower >= 'a' && lower <= 'z') || (lower >= '0' && lower <= '9');
    if (kept)
      folder += lower;
    else if (!folder.empty() && folder.back() != '-')
      folder += '-';
  }
  folder.resize(std::min(folder.size(), maximum_folder_length));
  if (folder.ends_with('-')) folder.pop_back();
  return folder.empty() ? "unnamed" : folder;
}

std::string study_schema() {
  return json_schema_of<StudyText>("paceline study",
                                   "one base scenario, and the variants and values of it that are compared");
}

bool is_study_file(const std::filesystem::path& file) {
  Problems ignored;
  const std::optional<YamlNode> root = parse_yaml_file(file, ignored);
  if (!root) return false;
  const auto has = [&](std::string_view key) { return root->find(key) != nullptr; };
  return has("study") || has("variants") || has("vary");
}

}  // namespace paceline

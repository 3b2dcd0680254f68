#include "sim/scenario/reader.hpp"

#include <utility>

#include <fmt/format.h>

#include "sim/description/assignment.hpp"
#include "sim/description/outputs.hpp"
#include "sim/scenario/checks/check.hpp"
#include "sim/scenario/named_workers.hpp"
#include "sim/scenario/repeated_workers.hpp"
#include "sim/scenario/sections/sections.hpp"

namespace paceline {

LoadedScenario read_scenario(YamlNode root, const std::filesystem::path& file, Problems& problems) {
  const std::vector<UnknownWorker> unknown = number_named_workers(root);
  LoadedScenario loaded;
  Scenario& scenario = loaded.scenario;
  scenario.file = file;
  Reading reading(problems);
  read_document(root, scenario, reading);
  for (const UnknownWorker& one : unknown) {
    reading.note_failure(one.path);
    problems.error(one.spot, fmt::format("no worker has the name `{}`", one.name), one.hint);
  }
  if (reading.is_sound("")) loaded.values = resolved_values(scenario, reading);
  check_scenario(scenario, reading);
  loaded.warnings = problems.rendered_warnings();
  loaded.is_sound = !problems.has_errors();
  return loaded;
}

std::optional<LoadedScenario> read_scenario_file(const std::filesystem::path& file,
                                                 std::span<const std::string> overrides, Problems& problems) {
  std::optional<YamlNode> root = parse_yaml_file(file, problems);
  if (!root) return std::nullopt;
  expand_repeated_workers(*root);
  for (const Assignment& assignment : parse_overrides(overrides, problems))
    apply_to_scenario(assignment, *root, problems);
  return read_scenario(std::move(*root), file, problems);
}

LoadedScenario load_scenario(const std::filesystem::path& file, std::span<const std::string> overrides) {
  Problems problems;
  std::optional<LoadedScenario> loaded = read_scenario_file(file, overrides, problems);
  problems.throw_if_errors(file.string());
  return std::move(*loaded);
}

std::string scenario_schema() {
  return json_schema_of<Scenario>(
      "paceline scenario", "one training job on one cluster, under one way of synchronizing and batching");
}

std::string origin_of(const LoadedScenario& loaded, std::string_view key) {
  for (const ResolvedValue& value : loaded.values)
    if (value.key == key) return value.origin;
  return loaded.scenario.file.string();
}

}  // namespace paceline

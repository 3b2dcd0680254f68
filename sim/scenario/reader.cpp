#include "sim/scenario/reader.hpp"

#include "sim/scenario/checks/semantic_checks.hpp"
#include "sim/scenario/overrides.hpp"
#include "sim/scenario/schema/read_visitor.hpp"
#include "sim/scenario/schema/schema_visitor.hpp"

namespace paceline {

LoadedScenario read_scenario(const YamlNode& root, const std::filesystem::path& file, Problems& problems) {
  LoadedScenario loaded;
  Scenario& scenario = loaded.scenario;
  scenario.file = file;
  Reading reading(problems);
  read_document(root, scenario, reading);
  if (reading.is_sound("")) {
    PrintVisitor printer("", reading, loaded.values);
    describe(printer, scenario);
  }
  check_scenario(scenario, reading);
  loaded.warnings = problems.rendered_warnings();
  return loaded;
}

LoadedScenario load_scenario(const std::filesystem::path& file, std::span<const std::string> overrides) {
  Problems problems;
  std::optional<YamlNode> root = parse_yaml_file(file, problems);
  if (!root) problems.throw_if_errors(file.string());
  for (const Assignment& assignment : parse_overrides(overrides, problems))
    apply(assignment, *root, problems);
  LoadedScenario loaded = read_scenario(*root, file, problems);
  problems.throw_if_errors(file.string());
  return loaded;
}

std::string scenario_schema() {
  Json schema{
      {"$schema", "http://json-schema.org/draft-07/schema#"},
      {"title", "paceline scenario"},
      {"description", "one training job on one cluster, under one way of synchronizing and batching"}};
  schema.update(SchemaVisitor::of<Scenario>());
  return schema.dump(2) + "\n";
}

std::string origin_of(const LoadedScenario& loaded, std::string_view key) {
  for (const ResolvedValue& value : loaded.values)
    if (value.key == key) return value.origin;
  return loaded.scenario.file.string();
}

}  // namespace paceline

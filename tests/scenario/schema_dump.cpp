// Prints what the schema test needs as one JSON object: both schemas and the good example, converted from
// YAML as an editor would (YAML 1.2: plain numbers, `true` and `false` are such, the rest is text).
#include <iostream>

#include <nlohmann/json.hpp>

#include "sim/description/units.hpp"
#include "sim/scenario/sweep/study_plan.hpp"
#include "tests/scenario/good_example_text.hpp"

namespace {

using Json = nlohmann::ordered_json;
using paceline::YamlNode;

Json scalar_json(const YamlNode& node) {
  if (node.quoted) return node.text;
  if (node.text == "true" || node.text == "false") return node.text == "true";
  const std::optional<double> number = paceline::parse_number(node.text);
  if (!number) return node.text;
  const bool is_integer = node.text.find_first_of(".eE") == std::string::npos;
  return is_integer ? Json(static_cast<std::int64_t>(*number)) : Json(*number);
}

Json to_json(const YamlNode& node) {
  Json json;
  switch (node.kind) {
    case YamlNode::Kind::null:
      return nullptr;
    case YamlNode::Kind::scalar:
      return scalar_json(node);
    case YamlNode::Kind::list:
      json = Json::array();
      for (const YamlNode& item : node.items) json.push_back(to_json(item));
      return json;
    case YamlNode::Kind::map:
      json = Json::object();
      for (const paceline::YamlEntry& entry : node.entries) json[entry.key] = to_json(entry.value);
      return json;
  }
  return json;
}

}  // namespace

int main() {
  paceline::Problems problems;
  const std::string_view text = paceline::test::good_example;
  const auto root = paceline::parse_yaml(text, paceline::file_source("example.yaml", text), problems);
  if (!root || problems.has_errors()) return 1;
  const Json all{{"scenario_schema", Json::parse(paceline::scenario_schema())},
                 {"study_schema", Json::parse(paceline::study_schema())},
                 {"scenario", to_json(*root)}};
  std::cout << all.dump(2) << '\n';
}

// Values given from outside a file: `--set key.path=value` and the `set` of a study's variant.
//
// A path names map keys by dots and list items by an index from 0: `cluster.workers.2.speed` or
// `cluster.workers[2].speed`. The value replaces what is there, or is added. Both carry their own place, so
// the strict reader, which runs afterwards, blames `--set` and not the file for an unknown key or a bad
// value.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "sim/description/yaml_tree.hpp"

namespace paceline {

struct Assignment {
  std::string path;
  Spot spot;  // of the path
  YamlNode value;
};

// "key.path=value"; the value is YAML. Nothing (and a problem) when it is not of that form.
[[nodiscard]] std::optional<Assignment> parse_override(const std::string& text, Problems& problems);
// All of them, in order.
[[nodiscard]] std::vector<Assignment> parse_overrides(std::span<const std::string> texts, Problems& problems);

// What a described member of a study file keeps as written (description.hpp).
void assign(YamlNode& member, const YamlNode& value);
void assign(std::vector<Assignment>& member, const YamlNode& value);

void apply(const Assignment& assignment, YamlNode& root, Problems& problems);
// Whether there is a value at this key path.
[[nodiscard]] bool holds(const YamlNode& root, std::string_view path);

}  // namespace paceline

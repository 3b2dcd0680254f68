#include "sim/description/assignment.hpp"

#include <charconv>
#include <utility>

#include <fmt/format.h>

namespace paceline {
namespace {

constexpr const char* form = "write `--set key.path=value`, for example `--set batching.controller=uniform`";

// The parts of "cluster.workers[2].speed"; nothing when a part is empty or a bracket is left open.
std::optional<std::vector<std::string>> split_path(std::string_view path) {
  std::vector<std::string> parts;
  std::string part;
  bool after_bracket = false;
  for (std::size_t i = 0; i < path.size(); ++i) {
    if (path[i] == '.' || path[i] == '[') {
      if (part.empty() && !after_bracket) return std::nullopt;
      if (!part.empty()) parts.push_back(std::exchange(part, {}));
      after_bracket = false;
    }
    if (path[i] == '[') {
      const std::size_t end = path.find(']', i);
      if (end == path.npos || end == i + 1) return std::nullopt;
      parts.emplace_back(path.substr(i + 1, end - i - 1));
      i = end;
      after_bracket = true;
    } else if (path[i] != '.') {
      if (after_bracket) return std::nullopt;
      part += path[i];
    }
  }
  if (part.empty() && !after_bracket) return std::nullopt;
  if (!part.empty()) parts.push_back(part);
  return parts;
}

std::optional<std::size_t> as_index(std::string_view part) {
  std::size_t index = 0;
  const auto [end, status] = std::from_chars(part.data(), part.data() + part.size(), index);
  if (status != std::errc{} || end != part.data() + part.size()) return std::nullopt;
  return index;
}

std::string joined(const std::vector<std::string>& parts, std::size_t count) {
  std::string path;
  for (std::size_t i = 0; i < count; ++i) path += (i == 0 ? "" : ".") + parts[i];
  return path;
}

// The value one part further down, made if it is a new key of a map; nullptr after a problem.
YamlNode* step(YamlNode& node, const std::vector<std::string>& parts, std::size_t depth, const Spot& spot,
               Problems& problems) {
  const std::string& part = parts[depth];
  if (node.kind == YamlNode::Kind::list) {
    const std::optional<std::size_t> index = as_index(part);
    if (index && *index < node.items.size()) return &node.items[*index];
    const std::string list = joined(parts, depth);
    problems.error(spot,
                   fmt::format("`{}` has {} items, and `{}` is none of them", list, node.items.size(), part),
                   "items are counted from 0; set the whole list to make it longer");
    return nullptr;
  }
  if (node.kind == YamlNode::Kind::scalar) {
    problems.error(spot, fmt::format("`{}` is a single value, it has no `{}`", joined(parts, depth), part),
                   "");
    return nullptr;
  }
  node.kind = YamlNode::Kind::map;
  if (YamlEntry* entry = node.find(part)) {
    if (depth + 1 == parts.size()) entry->spot = spot;
    return &entry->value;
  }
  node.entries.push_back({part, spot, {YamlNode::Kind::null, spot, {}, false, {}, {}}});
  return &node.entries.back().value;
}

// An argument has no lines: every place in its value is the argument itself.
void collapse_spots(YamlNode& node, const Spot& spot) {
  node.spot = spot;
  for (YamlNode& item : node.items) collapse_spots(item, spot);
  for (YamlEntry& entry : node.entries) {
    entry.spot = spot;
    collapse_spots(entry.value, spot);
  }
}

}  // namespace

std::optional<Assignment> parse_override(const std::string& text, Problems& problems) {
  const Spot spot{override_source(text), 0, 0};
  const std::size_t equals = text.find('=');
  if (equals == text.npos || equals == 0) {
    problems.error(spot, equals == 0 ? "the key is missing" : "there is no `=`", form);
    return std::nullopt;
  }
  Problems in_value;
  std::optional<YamlNode> value =
      parse_yaml(std::string_view(text).substr(equals + 1), spot.source, in_value);
  for (const Problem& p : in_value.sorted()) problems.error(spot, p.message, p.hint);
  if (in_value.has_errors()) return std::nullopt;
  Assignment assignment{text.substr(0, equals), spot, value.value_or(YamlNode{})};
  collapse_spots(assignment.value, spot);
  return assignment;
}

std::vector<Assignment> parse_overrides(std::span<const std::string> texts, Problems& problems) {
  std::vector<Assignment> assignments;
  for (const std::string& text : texts)
    if (std::optional<Assignment> assignment = parse_override(text, problems))
      assignments.push_back(std::move(*assignment));
  return assignments;
}

void assign(YamlNode& member, const YamlNode& value) {
  member = value;
}

void assign(std::vector<Assignment>& member, const YamlNode& value) {
  for (const YamlEntry& entry : value.entries) member.push_back({entry.key, entry.spot, entry.value});
}

void apply(const Assignment& assignment, YamlNode& root, Problems& problems) {
  const std::optional<std::vector<std::string>> parts = split_path(assignment.path);
  if (!parts) {
    problems.error(assignment.spot, fmt::format("`{}` is not a key path", assignment.path),
                   "write `cluster.workers.2.speed` or `cluster.workers[2].speed`");
    return;
  }
  YamlNode* node = &root;
  for (std::size_t depth = 0; depth < parts->size() && node != nullptr; ++depth)
    node = step(*node, *parts, depth, assignment.spot, problems);
  if (node != nullptr) *node = assignment.value;
}

bool holds(const YamlNode& root, std::string_view path) {
  const std::optional<std::vector<std::string>> parts = split_path(path);
  if (!parts) return false;
  const YamlNode* node = &root;
  for (const std::string& part : *parts) {
    const YamlEntry* entry = node->find(part);
    const std::optional<std::size_t> index =
        node->kind == YamlNode::Kind::list ? as_index(part) : std::nullopt;
    if (entry == nullptr && (!index || *index >= node->items.size())) return false;
    node = entry != nullptr ? &entry->value : &node->items[*index];
  }
  return true;
}

}  // namespace paceline

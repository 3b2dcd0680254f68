// A YAML text as a tree in which every key and value knows its place.
//
// Models:      the part of YAML 1.2 that a scenario needs: one document of maps with plain keys, lists,
//              scalars.
// Assumptions: UTF-8. Scalars stay text; whoever reads them decides what they mean, so `no` is never silently
//              a boolean.
// Not modelled: anchors, aliases, merge keys, tags, several documents. Each is refused with its place, as are
//              duplicate keys (which YAML forbids and yaml-cpp accepts).
// Source:      yaml.org/spec/1.2.2; yaml-cpp's event interface does the parsing.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "sim/description/source.hpp"

namespace paceline {

struct YamlEntry;

struct YamlNode {
  enum class Kind { null, scalar, list, map };
  Kind kind = Kind::null;
  Spot spot;                       // of a null value: its key
  std::string text;                // scalar
  bool quoted = false;             // scalar written with quotes or as a block: certainly text
  std::vector<YamlNode> items;     // list
  std::vector<YamlEntry> entries;  // map, in the order written

  [[nodiscard]] YamlEntry* find(std::string_view key);
  [[nodiscard]] const YamlEntry* find(std::string_view key) const;
};

struct YamlEntry {
  std::string key;
  Spot spot;  // of the key
  YamlNode value;
};

// A scalar that nobody wrote as such: what follows from something at this place.
[[nodiscard]] inline YamlNode scalar_at(const Spot& spot, std::string text, bool quoted = false) {
  return {YamlNode::Kind::scalar, spot, std::move(text), quoted, {}, {}};
}

// The document in `text`, or nothing after a mistake that leaves no tree to look at. All mistakes found are
// added to `problems`; `source` is where they are said to be.
[[nodiscard]] std::optional<YamlNode> parse_yaml(std::string_view text,
                                                 const std::shared_ptr<const Source>& source,
                                                 Problems& problems);

// Reads and parses a file. Throws UserError when it cannot be read.
[[nodiscard]] std::optional<YamlNode> parse_yaml_file(const std::filesystem::path& file, Problems& problems);

}  // namespace paceline

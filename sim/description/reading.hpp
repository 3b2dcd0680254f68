// Filling a described struct (description.hpp) from a YAML tree, strictly: every key must be known, every
// value must fit. And what is known afterwards: where each value came from and which ones failed.
//
// Key paths join keys and list indices by dots: "cluster.workers.2.speed"; the whole file is "".
#pragma once

#include <map>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "sim/description/description.hpp"
#include "sim/description/yaml_tree.hpp"

namespace paceline {

[[nodiscard]] std::string join_path(std::string_view parent, std::string_view key);

class Reading {
 public:
  explicit Reading(Problems& problems) : problems_(problems) {}

  void note_value(const std::string& path, const Spot& spot) { spots_.insert_or_assign(path, spot); }
  void note_default(const std::string& path, std::string origin) { defaults_[path] = std::move(origin); }
  void note_failure(const std::string& path) { failed_.insert(path); }

  [[nodiscard]] Problems& problems() const { return problems_; }
  // Whether the file or an override says something under this path.
  [[nodiscard]] bool is_given(const std::string& path) const { return spots_.contains(path); }
  // Whether neither the value at this path, nor any part of it, nor what holds it, has failed.
  [[nodiscard]] bool is_sound(const std::string& path) const;
  // Whether a value stands in the file that is read, and the one that takes it its meaning was put over that
  // file by an override: then it was left behind on purpose.
  [[nodiscard]] bool is_left_behind(const Spot& value, const std::string& deciding) const {
    const auto& file = spots_.at("").source;
    return value.source == file && spot(deciding).source != file;
  }
  // Whether an override gives this value instead of the file; and the paths below one that are given so by
  // themselves, not with the section they are in.
  [[nodiscard]] bool is_override(const std::string& path) const;
  [[nodiscard]] std::vector<std::string> varied_below(const std::string& path) const;
  // The place of a value, or of the closest section around it when it is absent.
  [[nodiscard]] Spot spot(std::string path) const;
  // "file:line:column", "--set key=value" or "default".
  [[nodiscard]] std::string origin(const std::string& path) const;

 private:
  Problems& problems_;
  std::map<std::string, Spot> spots_;
  std::map<std::string, std::string> defaults_;
  std::set<std::string> failed_;
};

// Reads a whole document.
void read_document(const YamlNode& root, const Field& document, Reading& reading);
template <class Struct>
void read_document(const YamlNode& root, Struct& document, Reading& reading) {
  read_document(root, field_of(document, Section{}), reading);
}

struct ResolvedValue {
  std::string key;     // "cluster.workers.2.speed"
  std::string value;   // as it could be written in a file; if absent, what happens instead, in words
  std::string origin;  // "file:line:column", "--set key=value", "default"
  bool is_absent = false;
};

// Every value that has a meaning, in the order described.
[[nodiscard]] std::vector<ResolvedValue> resolved_values(const Field& document, const Reading& reading);
template <class Struct>
[[nodiscard]] std::vector<ResolvedValue> resolved_values(Struct& document, const Reading& reading) {
  return resolved_values(field_of(document, Section{}), reading);
}

}  // namespace paceline

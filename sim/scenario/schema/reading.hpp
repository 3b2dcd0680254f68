// What is known after a tree was read into structs: where each value came from and which ones failed.
//
// Key paths join keys and list indices by dots: "cluster.workers.2.speed"; the whole file is "".
#pragma once

#include <map>
#include <set>
#include <string>
#include <string_view>

#include "sim/scenario/schema/yaml_tree.hpp"

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

}  // namespace paceline

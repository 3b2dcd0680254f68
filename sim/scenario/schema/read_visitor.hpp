// The visitor that fills structs from a YAML tree, strictly: every key must be known, every value must fit.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "sim/scenario/description.hpp"
#include "sim/scenario/overrides.hpp"
#include "sim/scenario/schema/reading.hpp"
#include "sim/scenario/schema/value_kinds.hpp"

namespace paceline {

// Members hold what kinds deliver, except that paths may be kept as text.
template <class Member, class Value>
void assign(Member& member, Value&& value) {
  member = std::forward<Value>(value);
}
inline void assign(std::string& member, const std::filesystem::path& value) {
  member = value.string();
}

template <class Kind>
std::string expectation_of(const Kind& kind) {
  return kind.expectation();
}
inline std::string expectation_of(const Section&) {
  return "a section with keys of its own";
}
inline std::string expectation_of(const KeyPathValues&) {
  return "a map from key paths to values";
}
template <class Kind>
std::string expectation_of(const ListOf<Kind>& list) {
  return fmt::format("a list with one item for each {}", list.noun);
}

// One value to read: the node, where to complain when it has no place of its own, and its path.
struct ReadPoint {
  const YamlNode& node;
  Spot anchor;
  std::string path;
};

// False, with a problem noted, when the node is of another kind.
bool expect_kind(const ReadPoint& point, YamlNode::Kind kind, const std::string& expectation,
                 Reading& reading);
void note_mistake(const ReadPoint& point, const Mistake& mistake, Reading& reading);
void note_missing(const Spot& section, const std::string& path, std::string_view description,
                  const std::string& expectation, Reading& reading);
void note_unknown_keys(const YamlNode& map, const std::string& path, const std::vector<std::string>& known,
                       Reading& reading);
// A key without a meaning here is said to be so, unless the value that takes its meaning was put over this file by an
// override: then the key was left behind on purpose.
void note_unused(const YamlEntry& entry, const std::string& section, const OnlyIf& condition,
                 Reading& reading);
bool expect_item_count(const ReadPoint& point, std::size_t minimum, std::size_t maximum,
                       std::string_view noun, Reading& reading);

class ReadVisitor {
 public:
  ReadVisitor(const ReadPoint& section, Reading& reading) : section_(section), reading_(reading) {}

  template <class Member, class Kind>
  void required(std::string_view key, Member& member, const Kind& kind, std::string_view description) {
    if (!read_if_present(key, member, kind) && is_needed())
      note_missing(section_.anchor, path_of(key), description, expectation_of(kind), reading_);
  }
  template <class Member, class Kind>
  void optional(std::string_view key, Member& member, const Kind& kind, std::string_view) {
    read_if_present(key, member, kind);
  }
  template <class Member, class Kind>
  void optional(std::string_view key, Member& member, const Kind& kind, std::string_view, Absent) {
    read_if_present(key, member, kind);
  }
  template <class Member, class Kind>
  void optional(std::string_view key, Member& member, const Kind& kind, std::string_view,
                const SameAs<Member>& same) {
    if (read_if_present(key, member, kind)) return;
    member = same.value;
    reading_.note_default(path_of(key), fmt::format("default: same as {}", same.key));
  }

  void only_if(const OnlyIf& condition) { condition_ = condition; }
  void always() { condition_.reset(); }

  void finish() const { note_unknown_keys(section_.node, section_.path, known_, reading_); }

 private:
  [[nodiscard]] std::string path_of(std::string_view key) const { return join_path(section_.path, key); }

  // Whether a required key is missed: not where it would have no meaning, nor where that is not known.
  [[nodiscard]] bool is_needed() const {
    return !condition_ || (condition_->holds && reading_.is_sound(path_of(condition_->key)));
  }
  template <class Member, class Kind>
  bool read_if_present(std::string_view key, Member& member, const Kind& kind);

  const ReadPoint& section_;
  Reading& reading_;
  std::optional<OnlyIf> condition_;
  std::vector<std::string> known_;
};

template <class Member, class Kind>
void read_value(const ReadPoint& point, Member& member, const Kind& kind, Reading& reading) {
  if (!expect_kind(point, YamlNode::Kind::scalar, expectation_of(kind), reading)) return;
  const Scalar scalar{point.node.text, point.node.quoted, point.node.spot.source->folder};
  auto parsed = kind.parse(scalar);
  if (const auto* mistake = std::get_if<Mistake>(&parsed)) return note_mistake(point, *mistake, reading);
  assign(member, std::get<typename Kind::Value>(std::move(parsed)));
}

template <class Struct>
void read_value(const ReadPoint& point, Struct& section, const Section& kind, Reading& reading) {
  if (!expect_kind(point, YamlNode::Kind::map, expectation_of(kind), reading)) return;
  ReadVisitor visitor(point, reading);
  describe(visitor, section);
  visitor.finish();
}

template <class Struct>
void read_value(const ReadPoint& point, std::optional<Struct>& section, const Section& kind,
                Reading& reading) {
  read_value(point, section.emplace(), kind, reading);
}

template <class Item, class Kind>
void read_value(const ReadPoint& point, std::vector<Item>& items, const ListOf<Kind>& list,
                Reading& reading) {
  if (!expect_kind(point, YamlNode::Kind::list, expectation_of(list), reading)) return;
  if (!expect_item_count(point, list.minimum_items, list.maximum_items, list.noun, reading)) return;
  items.assign(point.node.items.size(), Item{});
  for (std::size_t i = 0; i < items.size(); ++i) {
    const YamlNode& node = point.node.items[i];
    const ReadPoint item{node, node.spot, join_path(point.path, std::to_string(i))};
    reading.note_value(item.path, node.spot);
    read_value(item, items[i], list.kind, reading);
  }
}

inline void read_value(const ReadPoint& point, std::vector<Assignment>& assignments,
                       const KeyPathValues& kind, Reading& reading) {
  if (!expect_kind(point, YamlNode::Kind::map, expectation_of(kind), reading)) return;
  for (const YamlEntry& entry : point.node.entries)
    assignments.push_back({entry.key, entry.spot, entry.value});
}

inline void read_value(const ReadPoint& point, YamlNode& value, const AnyValue&, Reading&) {
  value = point.node;
}

template <class Member, class Kind>
bool ReadVisitor::read_if_present(std::string_view key, Member& member, const Kind& kind) {
  known_.emplace_back(key);
  const YamlEntry* entry = section_.node.find(key);
  if (entry == nullptr) return false;
  const ReadPoint point{entry->value, entry->spot, path_of(key)};
  reading_.note_value(point.path, entry->value.spot);
  if (condition_ && !condition_->holds) note_unused(*entry, section_.path, *condition_, reading_);
  read_value(point, member, kind, reading_);
  return true;
}

// Reads a whole document.
template <class Struct>
void read_document(const YamlNode& root, Struct& document, Reading& reading) {
  reading.note_value("", root.spot);
  read_value({root, root.spot, ""}, document, Section{}, reading);
}

}  // namespace paceline

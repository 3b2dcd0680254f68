#include "sim/description/reading.hpp"

#include <algorithm>
#include <array>
#include <regex>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "sim/base/check.hpp"

namespace paceline {
namespace {

// Words that files once used, and what takes their place: an error says so instead of guessing.
struct Replaced {
  std::string_view path;  // of the section for a key, of the value for a word; without list indices
  std::string_view word;
  std::string_view hint;
};
constexpr std::array replaced_words{
    Replaced{"batching.controller", "released", "it is now called `omnilearn-code`"},
    Replaced{"vary.range", "step", "a range is given by its ends and the number of `points`"},
};

// Empty when the word is none of old.
std::string replacement_of(const std::string& path, std::string_view word) {
  static const std::regex index(R"(\.\d+)");
  const std::string plain = std::regex_replace(path, index, "");
  for (const Replaced& one : replaced_words)
    if (one.path == plain && one.word == word) return std::string(one.hint);
  return {};
}

std::string parent_of(const std::string& path) {
  const std::size_t dot = path.rfind('.');
  return dot == path.npos ? std::string{} : path.substr(0, dot);
}

}  // namespace

std::string join_path(std::string_view parent, std::string_view key) {
  std::string path(parent);
  if (!path.empty()) path += '.';
  return path += key;
}

bool Reading::is_sound(const std::string& path) const {
  for (std::string holder = path;; holder = parent_of(holder)) {
    if (failed_.contains(holder)) return false;
    if (holder.empty()) break;
  }
  if (path.empty()) return failed_.empty();
  const auto first_part = failed_.lower_bound(path + ".");
  return first_part == failed_.end() || !first_part->starts_with(path + ".");
}

bool Reading::is_override(const std::string& path) const {
  const auto found = spots_.find(path);
  return found != spots_.end() && found->second.source != spots_.at("").source;
}

std::vector<std::string> Reading::varied_below(const std::string& path) const {
  std::vector<std::string> paths;
  const std::string start = path + ".";
  for (auto it = spots_.lower_bound(start); it != spots_.end() && it->first.starts_with(start); ++it)
    if (is_override(it->first) && !is_override(parent_of(it->first))) paths.push_back(it->first);
  return paths;
}

Spot Reading::spot(std::string path) const {
  for (;; path = parent_of(path)) {
    if (const auto found = spots_.find(path); found != spots_.end()) return found->second;
    check(!path.empty(), "the root of a reading has no place");
  }
}

std::string Reading::origin(const std::string& path) const {
  if (const auto found = spots_.find(path); found != spots_.end()) return to_text(found->second.place());
  const auto fallback = defaults_.find(path);
  return fallback == defaults_.end() ? "default" : fallback->second;
}

namespace {

std::string_view found_text(YamlNode::Kind kind) {
  switch (kind) {
    case YamlNode::Kind::null:
      return "nothing";
    case YamlNode::Kind::scalar:
      return "a single value";
    case YamlNode::Kind::list:
      return "a list";
    case YamlNode::Kind::map:
      return "a section with keys";
  }
  return "";
}

// " in `cluster.network`"; nothing for the whole file.
std::string in_section(const std::string& path) {
  return path.empty() ? "" : fmt::format(" in `{}`", path);
}

// One value to read: the node, where to complain when it has no place of its own, and its path.
struct Point {
  const YamlNode& node;
  Spot anchor;
  std::string path;
};

class SectionReader final : public Visitor {
 public:
  SectionReader(const Point& section, Reading& reading) : section_(section), reading_(reading) {}

  void finish() const {
    for (const YamlEntry& entry : section_.node.entries)
      if (std::ranges::find(known_, entry.key) == known_.end()) note_unknown(entry);
    for (const auto& [key, conditions] : unused_)
      if (!used_.contains(key)) note_unused(*section_.node.find(key), conditions);
  }

 private:
  void visit(const Key& key) override;

  // Whether it is not known if the key has a meaning: the value that decides has failed.
  [[nodiscard]] bool is_undecided(const Key& key) const {
    return key.condition != nullptr && !reading_.is_sound(join_path(section_.path, key.condition->key));
  }

  void visit_absent(const Key& key, const std::string& path) const {
    if (key.absence == Key::Absence::same_as) {
      key.field.get<ScalarField>().set(*key.other_value);
      reading_.note_default(path, fmt::format("default: same as {}", key.when_absent));
    }
    if (key.absence != Key::Absence::not_allowed || !key.has_meaning() || is_undecided(key)) return;
    reading_.problems().error(
        section_.anchor, fmt::format("missing key `{}`{}", key.name, in_section(section_.path)),
        fmt::format("`{}`: {}; expected {}", key.name, key.meaning, expectation_of(key.field)));
    reading_.note_failure(path);
  }

  void note_unknown(const YamlEntry& entry) const {
    const std::optional<std::string> likely = closest(entry.key, known_);
    std::string hint = replacement_of(section_.path, entry.key);
    if (hint.empty())
      hint = likely ? fmt::format("did you mean `{}`?", *likely)
                    : fmt::format("accepted here: {}", fmt::join(known_, ", "));
    reading_.problems().error(entry.spot,
                              fmt::format("unknown key `{}`{}", entry.key, in_section(section_.path)), hint);
  }

  void note_unused(const YamlEntry& entry, const std::vector<OnlyIf>& conditions) const {
    std::vector<std::string> texts;
    for (const OnlyIf& condition : conditions) {
      if (reading_.is_left_behind(entry.spot, join_path(section_.path, condition.key))) return;
      texts.push_back(condition.text());
    }
    reading_.problems().warning(
        entry.spot, fmt::format("`{}` is only used with `{}`", entry.key, fmt::join(texts, "` or `")));
  }

  const Point& section_;
  Reading& reading_;
  std::vector<std::string> known_;
  std::set<std::string> used_;
  std::map<std::string, std::vector<OnlyIf>> unused_;
};

// Reads one value into one field.
class FieldReader {
 public:
  FieldReader(const Point& point, Reading& reading) : point_(point), reading_(reading) {}

  void read(const Field& field) const {
    const auto* tree = field.as<TreeField>();
    if (tree != nullptr && !tree->is_map) return tree->set(point_.node);
    const YamlNode::Kind expected = field.as<ScalarField>() != nullptr ? YamlNode::Kind::scalar
                                    : field.as<ListField>() != nullptr ? YamlNode::Kind::list
                                                                       : YamlNode::Kind::map;
    if (point_.node.kind != expected) return fail_with(expectation_of(field));
    if (tree != nullptr) tree->set(point_.node);
    if (const auto* scalar = field.as<ScalarField>()) read_scalar(*scalar);
    if (const auto* list = field.as<ListField>()) read_list(*list);
    if (const auto* section = field.as<SectionField>()) {
      SectionReader reader(point_, reading_);
      section->describe(reader);
      reader.finish();
    }
  }

 private:
  void fail(std::string message, std::string hint = {}) const {
    reading_.problems().error(point_.node.spot, std::move(message), std::move(hint));
    reading_.note_failure(point_.path);
  }

  void fail_with(const std::string& expectation) const {
    const std::string what = point_.path.empty() ? "the file" : fmt::format("`{}`", point_.path);
    if (point_.node.kind == YamlNode::Kind::null)
      fail(fmt::format("{} is empty", what), fmt::format("expected {}", expectation));
    else
      fail(fmt::format("{} must be {}, found {}", what, expectation, found_text(point_.node.kind)));
  }

  void read_scalar(const ScalarField& field) const {
    const YamlNode& node = point_.node;
    Parsed<Plain> parsed = field.kind.parse({node.text, node.quoted, node.spot.source->folder});
    if (const auto* plain = std::get_if<Plain>(&parsed)) return field.set(*plain);
    const Mistake& mistake = std::get<Mistake>(parsed);
    const std::string replacement = replacement_of(point_.path, node.text);
    fail(fmt::format("`{}`: {}", point_.path, mistake.message),
         replacement.empty() ? mistake.hint : replacement);
  }

  void read_list(const ListField& field) const {
    const std::size_t count = point_.node.items.size();
    const bool few = count < field.minimum_items;
    if (few || count > field.maximum_items) {
      const std::size_t bound = few ? field.minimum_items : field.maximum_items;
      return fail(fmt::format("`{}` has {} items, {} {} {}{}", point_.path, count,
                              few ? "at least" : "at most", bound, field.noun,
                              bound == 1 ? " is needed" : "s are possible"));
    }
    field.resize(count);
    for (std::size_t i = 0; i < count; ++i) {
      const YamlNode& node = point_.node.items[i];
      const Point item{node, node.spot, join_path(point_.path, std::to_string(i))};
      reading_.note_value(item.path, node.spot);
      FieldReader(item, reading_).read(field.item(i));
    }
  }

  const Point& point_;
  Reading& reading_;
};

void SectionReader::visit(const Key& key) {
  const std::string name(key.name);
  const std::string path = join_path(section_.path, name);
  if (std::ranges::find(known_, name) == known_.end()) known_.push_back(name);
  const YamlEntry* entry = section_.node.find(name);
  if (entry == nullptr) return visit_absent(key, path);
  reading_.note_value(path, entry->value.spot);
  if (!key.has_meaning() && !is_undecided(key)) {
    unused_[name].push_back(*key.condition);
    return;
  }
  used_.insert(name);
  FieldReader({entry->value, entry->spot, path}, reading_).read(key.field);
}

class ValueLister final : public Visitor {
 public:
  ValueLister(std::string path, const Reading& reading, std::vector<ResolvedValue>& values)
      : path_(std::move(path)), reading_(reading), values_(values) {}

 private:
  void visit(const Key& key) override {
    if (!key.has_meaning() || key.absence == Key::Absence::expanded) return;
    const std::string path = join_path(path_, key.name);
    const auto* section = key.field.as<SectionField>();
    const auto* scalar = key.field.as<ScalarField>();
    const std::optional<Plain> value = scalar != nullptr ? scalar->value() : std::nullopt;
    if (key.absence == Key::Absence::nothing &&
        ((section != nullptr && section->is_empty) || (scalar != nullptr && !value)))
      add(path, std::string(key.when_absent), true);
    else if (section != nullptr)
      list(path, *section);
    else if (scalar != nullptr)
      add(path, text_of(*scalar));
    else if (const auto* items = key.field.as<ListField>())
      list(path, *items);
  }

  static std::string text_of(const ScalarField& field) {
    return field.kind.print(field.value().value_or(std::string()));
  }

  void add(const std::string& path, std::string text, bool is_absent = false) const {
    values_.push_back({path, std::move(text), reading_.origin(path), is_absent});
  }

  void list(const std::string& path, const SectionField& section) const {
    ValueLister inner(path, reading_, values_);
    section.describe(inner);
  }

  // Values in one line; sections, each with its keys.
  void list(const std::string& path, const ListField& items) const {
    std::vector<std::string> texts;
    bool sections = false;
    items.with_new_item([&](const Field& item) { sections = item.as<SectionField>() != nullptr; });
    for (std::size_t i = 0; i < items.size; ++i) {
      const Field item = items.item(i);
      if (sections)
        list(join_path(path, std::to_string(i)), item.get<SectionField>());
      else if (const auto* scalar = item.as<ScalarField>())
        texts.push_back(text_of(*scalar));
    }
    if (!sections) add(path, fmt::format("[{}]", fmt::join(texts, ", ")));
  }

  std::string path_;
  const Reading& reading_;
  std::vector<ResolvedValue>& values_;
};

}  // namespace

void read_document(const YamlNode& root, const Field& document, Reading& reading) {
  reading.note_value("", root.spot);
  const Point point{root, root.spot, ""};
  FieldReader(point, reading).read(document);
}

std::vector<ResolvedValue> resolved_values(const Field& document, const Reading& reading) {
  std::vector<ResolvedValue> values;
  ValueLister lister("", reading, values);
  document.get<SectionField>().describe(lister);
  return values;
}

}  // namespace paceline

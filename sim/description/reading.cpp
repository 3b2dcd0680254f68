#include "sim/description/reading.hpp"

#include <algorithm>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "sim/base/check.hpp"
#include "sim/description/replaced.hpp"

namespace paceline {
namespace {

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

// Reads one value into one field. False after a problem that leaves nothing to look at.
class FieldReader {
 public:
  FieldReader(const Point& point, Reading& reading) : point_(point), reading_(reading) {}

  void operator()(ScalarField* field) const;
  void operator()(SectionField* field) const;
  void operator()(ListField* field) const;
  void operator()(TreeField* field) const;

 private:
  [[nodiscard]] bool expect(YamlNode::Kind kind, const Field& field) const;
  void fail(std::string message, std::string hint) const {
    reading_.problems().error(point_.node.spot, std::move(message), std::move(hint));
    reading_.note_failure(point_.path);
  }

  const Point& point_;
  Reading& reading_;
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
  void visit(const Key& key) override {
    const std::string name(key.name);
    const std::string path = join_path(section_.path, name);
    if (std::ranges::find(known_, name) == known_.end()) known_.push_back(name);
    const YamlEntry* entry = section_.node.find(name);
    if (entry == nullptr) return visit_absent(key, path);
    reading_.note_value(path, entry->value.spot);
    if (!key.has_meaning() && reading_.is_sound(join_path(section_.path, key.condition->key))) {
      unused_[name].push_back(*key.condition);
      return;
    }
    used_.insert(name);
    std::visit(FieldReader({entry->value, entry->spot, path}, reading_), key.field);
  }

  void visit_absent(const Key& key, const std::string& path) const {
    if (key.absence == Key::Absence::same_as) {
      std::get<ScalarField*>(key.field)->set(*key.other_value);
      reading_.note_default(path, fmt::format("default: same as {}", key.when_absent));
    }
    if (key.absence != Key::Absence::not_allowed || !key.has_meaning()) return;
    // Where it is not known whether the key has a meaning, it is not missed.
    if (key.condition && !reading_.is_sound(join_path(section_.path, key.condition->key))) return;
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

  // Not when the value that takes the key its meaning was put over this file by an override: then the key was
  // left behind on purpose.
  void note_unused(const YamlEntry& entry, const std::vector<OnlyIf>& conditions) const {
    std::vector<std::string> texts;
    for (const OnlyIf& condition : conditions) {
      const std::string deciding = join_path(section_.path, condition.key);
      if (reading_.spot(deciding).source != entry.spot.source) return;
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

bool FieldReader::expect(YamlNode::Kind kind, const Field& field) const {
  if (point_.node.kind == kind) return true;
  const std::string what = point_.path.empty() ? "the file" : fmt::format("`{}`", point_.path);
  const std::string expectation = expectation_of(field);
  if (point_.node.kind == YamlNode::Kind::null)
    fail(fmt::format("{} is empty", what), fmt::format("expected {}", expectation));
  else
    fail(fmt::format("{} must be {}, found {}", what, expectation, found_text(point_.node.kind)), "");
  return false;
}

void FieldReader::operator()(ScalarField* field) const {
  if (!expect(YamlNode::Kind::scalar, field)) return;
  const YamlNode& node = point_.node;
  Parsed<Plain> parsed = field->kind().parse({node.text, node.quoted, node.spot.source->folder});
  if (const auto* mistake = std::get_if<Mistake>(&parsed)) {
    const std::string replacement = replacement_of(point_.path, node.text);
    return fail(fmt::format("`{}`: {}", point_.path, mistake->message),
                replacement.empty() ? mistake->hint : replacement);
  }
  field->set(std::get<Plain>(parsed));
}

void FieldReader::operator()(SectionField* field) const {
  if (!expect(YamlNode::Kind::map, field)) return;
  field->create();
  SectionReader section(point_, reading_);
  field->describe_to(section);
  section.finish();
}

void FieldReader::operator()(ListField* field) const {
  if (!expect(YamlNode::Kind::list, field)) return;
  const std::size_t count = point_.node.items.size();
  const bool few = count < field->minimum_items;
  if (few || count > field->maximum_items) {
    const std::size_t bound = few ? field->minimum_items : field->maximum_items;
    return fail(fmt::format("`{}` has {} items, {} {} {}{}", point_.path, count, few ? "at least" : "at most",
                            bound, field->noun, bound == 1 ? " is needed" : "s are possible"),
                "");
  }
  field->resize(count);
  for (std::size_t i = 0; i < count; ++i) {
    const YamlNode& node = point_.node.items[i];
    const Point item{node, node.spot, join_path(point_.path, std::to_string(i))};
    reading_.note_value(item.path, node.spot);
    field->with_item(i, [&](const Field& one) { std::visit(FieldReader(item, reading_), one); });
  }
}

void FieldReader::operator()(TreeField* field) const {
  if (!field->is_map() || expect(YamlNode::Kind::map, field)) field->set(point_.node);
}

class ValueLister final : public Visitor {
 public:
  ValueLister(std::string path, const Reading& reading, std::vector<ResolvedValue>& values)
      : path_(std::move(path)), reading_(reading), values_(values) {}

  void list(const std::string& path, SectionField* section) const {
    ValueLister inner(path, reading_, values_);
    section->describe_to(inner);
  }

 private:
  void visit(const Key& key) override {
    if (!key.has_meaning()) return;
    const std::string path = join_path(path_, key.name);
    const auto is_empty = [](const auto* field) {
      if constexpr (requires { field->is_empty(); }) {
        return field->is_empty();
      } else {
        return false;
      }
    };
    if (key.absence == Key::Absence::nothing && std::visit(is_empty, key.field))
      values_.push_back({path, std::string(key.when_absent), reading_.origin(path), true});
    else
      std::visit([&](auto* field) { list(path, field); }, key.field);
  }

  void list(const std::string& path, ScalarField* field) const {
    values_.push_back({path, field->kind().print(field->value()), reading_.origin(path), false});
  }
  void list(const std::string& path, ListField* items) const {
    std::vector<std::string> texts;
    bool sections = false;
    items->with_new_item([&](const Field& item) { sections = std::holds_alternative<SectionField*>(item); });
    for (std::size_t i = 0; i < items->size(); ++i)
      items->with_item(i, [&](const Field& item) {
        if (sections)
          list(join_path(path, std::to_string(i)), std::get<SectionField*>(item));
        else if (const auto* scalar = std::get_if<ScalarField*>(&item))
          texts.push_back((*scalar)->kind().print((*scalar)->value()));
      });
    if (!sections)
      values_.push_back({path, fmt::format("[{}]", fmt::join(texts, ", ")), reading_.origin(path), false});
  }
  void list(const std::string&, TreeField*) const {}

  std::string path_;
  const Reading& reading_;
  std::vector<ResolvedValue>& values_;
};

}  // namespace

void read_section(const YamlNode& root, SectionField& section, Reading& reading) {
  reading.note_value("", root.spot);
  const Point point{root, root.spot, ""};
  FieldReader read(point, reading);
  read(&section);
}

std::vector<ResolvedValue> values_of(SectionField& section, const Reading& reading) {
  std::vector<ResolvedValue> values;
  ValueLister("", reading, values).list("", &section);
  return values;
}

}  // namespace paceline

#include "sim/description/outputs.hpp"

#include <algorithm>
#include <set>

#include <fmt/format.h>
#include <fmt/ranges.h>
#include <nlohmann/json.hpp>

#include "sim/description/reading.hpp"

namespace paceline {
namespace {

class SchemaWriter final : public Visitor {
 public:
  [[nodiscard]] static Json of(const Field& field) {
    if (const auto* scalar = field.as<ScalarField>()) return scalar->kind.schema();
    if (const auto* section = field.as<SectionField>()) {
      SchemaWriter writer;
      section->describe(writer);
      return writer.schema_;
    }
    if (const auto* tree = field.as<TreeField>())
      return tree->is_map ? Json{{"type", "object"}, {"minProperties", 0}} : Json::object();
    const auto& list = field.get<ListField>();
    Json schema{{"type", "array"}};
    list.with_new_item([&](const Field& item) { schema["items"] = of(item); });
    if (list.minimum_items > 0) schema["minItems"] = list.minimum_items;
    if (list.maximum_items < std::numeric_limits<std::size_t>::max()) schema["maxItems"] = list.maximum_items;
    return schema;
  }

 private:
  // Numbers and truth values appear as such, everything else as the text one would write.
  static void add_default(Json& property, const Field& field) {
    if (const auto* scalar = field.as<ScalarField>()) {
      const std::string text = scalar->kind.print(*scalar->value());
      const Json parsed = Json::parse(text, nullptr, false);
      property["default"] = parsed.is_discarded() ? Json(text) : parsed;
    } else if (field.as<ListField>() != nullptr) {
      property["default"] = Json::array();
    }
  }

  // "If the deciding key has one of these values, then this key is required." Absent it has its default.
  void require_conditionally(const Key& key) {
    const std::string deciding(key.condition->key);
    const Json values = key.condition->values;
    Json condition{{"properties", {{deciding, {{"enum", values}}}}}};
    const auto known = schema_["properties"].find(deciding);
    const bool holds_when_absent = known != schema_["properties"].end() && known->contains("default") &&
                                   std::ranges::find(values, (*known)["default"]) != values.end();
    if (!holds_when_absent) condition["required"] = Json::array({deciding});
    for (Json& rule : schema_["allOf"])
      if (rule["if"] == condition) return rule["then"]["required"].push_back(key.name);
    schema_["allOf"].push_back({{"if", condition}, {"then", {{"required", Json::array({key.name})}}}});
  }

  void visit(const Key& key) override {
    if (key.absence == Key::Absence::not_allowed) {
      if (key.condition != nullptr)
        require_conditionally(key);
      else
        schema_["required"].push_back(key.name);
    }
    std::string description(key.meaning);
    if (key.absence == Key::Absence::nothing) description += fmt::format(" (default: {})", key.when_absent);
    if (key.absence == Key::Absence::same_as)
      description += fmt::format(" (default: same as {})", key.when_absent);
    if (key.condition != nullptr) description += fmt::format(" (only for `{}`)", key.condition->text());
    Json& properties = schema_["properties"];
    const std::string name(key.name);
    // A key of several policies: each says what it means there.
    if (const auto known = properties.find(name); known != properties.end()) {
      (*known)["description"] =
          fmt::format("{}; {}", (*known)["description"].get<std::string>(), description);
      return;
    }
    Json property{{"description", std::move(description)}};
    property.update(of(key.field));
    if (key.absence == Key::Absence::initial_value || key.absence == Key::Absence::expanded)
      add_default(property, key.field);
    properties[name] = std::move(property);
  }

  Json schema_{{"type", "object"},
               {"additionalProperties", false},
               {"required", Json::array()},
               {"properties", Json::object()}};
};

// A regular expression of what may follow the name of a key in a key path.
class KeyPathWriter final : public Visitor {
 public:
  [[nodiscard]] static std::string below(const Field& field) {
    if (const auto* section = field.as<SectionField>()) return fmt::format("(\\.({}))?", keys_of(*section));
    if (field.as<TreeField>() != nullptr) return "(\\..*)?";
    const auto* list = field.as<ListField>();
    if (list == nullptr) return "";
    std::string below_item;
    list->with_new_item([&](const Field& item) { below_item = below(item); });
    return fmt::format("((\\.[0-9]+|\\[[0-9]+\\]){})?", below_item);
  }
  [[nodiscard]] static std::string keys_of(const SectionField& section) {
    KeyPathWriter writer;
    section.describe(writer);
    return fmt::format("{}", fmt::join(writer.keys_, "|"));
  }

 private:
  void visit(const Key& key) override { keys_.insert(fmt::format("{}{}", key.name, below(key.field))); }

  std::set<std::string> keys_;
};

// The keys of one section, and the sections below it.
class ReferenceWriter final : public Visitor {
 public:
  explicit ReferenceWriter(std::string path) : path_(std::move(path)) {}

  [[nodiscard]] std::string text() const {
    return fmt::format("| key | value | default | meaning |\n|---|---|---|---|\n{}\n{}", rows_, below_);
  }

 private:
  static std::string in_a_cell(std::string_view text) {
    std::string cell;
    for (const char c : text) cell += c == '|' ? "\\|" : c == '\n' ? " " : std::string(1, c);
    return cell;
  }

  static std::string value_of(const Field& field) {
    if (field.as<SectionField>() != nullptr) return "section, see below";
    const auto* list = field.as<ListField>();
    if (list == nullptr) return expectation_of(field);
    std::string item;
    list->with_new_item([&](const Field& one) { item = value_of(one); });
    return fmt::format("a list; each {}: {}", list->noun, item);
  }

  static std::string default_of(const Key& key) {
    switch (key.absence) {
      case Key::Absence::not_allowed:
        return "**required**";
      case Key::Absence::nothing:
        return std::string(key.when_absent);
      case Key::Absence::same_as:
        return fmt::format("same as `{}`", key.when_absent);
      case Key::Absence::initial_value:
      case Key::Absence::expanded:
        break;
    }
    if (const auto* scalar = key.field.as<ScalarField>())
      return fmt::format("`{}`", scalar->kind.print(*scalar->value()));
    return key.field.as<ListField>() != nullptr ? "an empty list" : "the defaults below";
  }

  void visit(const Key& key) override {
    std::string meaning(key.meaning);
    if (key.condition != nullptr) meaning += fmt::format("; only for `{}`", key.condition->text());
    rows_ += fmt::format("| `{}` | {} | {} | {} |\n", key.name, in_a_cell(value_of(key.field)),
                         in_a_cell(default_of(key)), in_a_cell(meaning));
    const std::string path = join_path(path_, key.name);
    add_below(path, key.meaning, key.field);
    if (const auto* list = key.field.as<ListField>())
      list->with_new_item([&](const Field& item) { add_below(path + "[]", key.meaning, item); });
  }

  void add_below(const std::string& path, std::string_view meaning, const Field& field) {
    const auto* section = field.as<SectionField>();
    if (section == nullptr) return;
    ReferenceWriter writer(path);
    section->describe(writer);
    below_ += fmt::format("## `{}`\n\n{}\n\n{}", path, meaning, writer.text());
  }

  std::string path_;
  std::string rows_;
  std::string below_;
};

}  // namespace

std::string json_schema(const Field& document, std::string_view title, std::string_view description) {
  Json schema{
      {"$schema", "http://json-schema.org/draft-07/schema#"}, {"title", title}, {"description", description}};
  schema.update(SchemaWriter::of(document));
  return schema.dump(2) + "\n";
}

std::string key_path_pattern(const Field& document) {
  return fmt::format("^({})$", KeyPathWriter::keys_of(document.get<SectionField>()));
}

std::string units_table() {
  std::string text = "| value | units | also accepted |\n|---|---|---|\n";
  for (int d = 0; d <= static_cast<int>(Dimension::price); ++d) {
    const UnitTable& table = units_of(Dimension{d});
    std::vector<std::string> units;
    std::vector<std::string> synonyms;
    for (const Unit& unit : table.units)
      (unit.synonym ? synonyms : units).push_back(fmt::format("`{}`", unit.name));
    text += fmt::format("| {}, such as `{}` | {} | {} |\n", table.noun, table.example, fmt::join(units, ", "),
                        fmt::join(synonyms, ", "));
  }
  return text;
}

std::string markdown_reference(const Field& document, const ReferenceTexts& texts) {
  ReferenceWriter writer("");
  document.get<SectionField>().describe(writer);
  std::string text =
      fmt::format("# {}\n\n<!-- Written by `{}`: change the program, not this file. -->\n\n{}\n\n",
                  texts.title, texts.command, texts.introduction);
  text += fmt::format("```yaml\n{}```\n\n## The file\n\n{}", texts.example, writer.text());
  while (text.ends_with("\n\n")) text.pop_back();
  return text;
}

}  // namespace paceline

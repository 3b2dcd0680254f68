#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "sim/description/outputs.hpp"

namespace paceline {
namespace {

class SchemaWriter final : public Visitor {
 public:
  [[nodiscard]] static Json of(const SectionField& section) {
    SchemaWriter writer;
    section.describe_new_to(writer);
    return writer.schema_;
  }

 private:
  struct ValueSchema {
    Json operator()(const ScalarField* field) const { return field->kind().schema(); }
    Json operator()(const SectionField* field) const { return of(*field); }
    Json operator()(const ListField* field) const {
      Json schema{{"type", "array"}};
      field->with_new_item([&](const Field& item) { schema["items"] = std::visit(ValueSchema{}, item); });
      if (field->minimum_items > 0) schema["minItems"] = field->minimum_items;
      if (field->maximum_items < std::numeric_limits<std::size_t>::max())
        schema["maxItems"] = field->maximum_items;
      return schema;
    }
    Json operator()(const TreeField* field) const {
      return field->is_map() ? Json{{"type", "object"}, {"minProperties", 0}} : Json::object();
    }
  };

  // Numbers and truth values appear as such, everything else as the text one would write.
  static void add_default(Json& property, const Field& field) {
    if (const auto* scalar = std::get_if<ScalarField*>(&field)) {
      const std::string text = (*scalar)->kind().print((*scalar)->value());
      const Json parsed = Json::parse(text, nullptr, false);
      property["default"] = parsed.is_discarded() ? Json(text) : parsed;
    } else if (std::holds_alternative<ListField*>(field)) {
      property["default"] = Json::array();
    }
  }

  // "If the deciding key has one of these values, then this key is required."
  void require_conditionally(const Key& key) {
    Json decided = Json::object();
    decided[std::string(key.condition->key)] = {{"enum", key.condition->values}};
    const Json condition{{"properties", decided}, {"required", Json::array({key.condition->key})}};
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
    property.update(std::visit(ValueSchema{}, key.field));
    if (key.absence == Key::Absence::initial_value) add_default(property, key.field);
    properties[name] = std::move(property);
  }

  Json schema_{{"type", "object"},
               {"additionalProperties", false},
               {"required", Json::array()},
               {"properties", Json::object()}};
};

}  // namespace

std::string json_schema(const SectionField& document, std::string_view title, std::string_view description) {
  Json schema{
      {"$schema", "http://json-schema.org/draft-07/schema#"}, {"title", title}, {"description", description}};
  schema.update(SchemaWriter::of(document));
  return schema.dump(2) + "\n";
}

}  // namespace paceline

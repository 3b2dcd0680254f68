// The visitor that writes a JSON schema (draft-7) of a struct, for editors.
//
// Not modelled: rules that join several keys; only the reader knows them.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "sim/scenario/description.hpp"

namespace paceline {

class SchemaVisitor {
 public:
  SchemaVisitor()
      : schema_{{"type", "object"},
                {"additionalProperties", false},
                {"required", Json::array()},
                {"properties", Json::object()}} {}

  template <class Member, class Kind>
  void required(std::string_view key, Member&, const Kind& kind, std::string_view description) {
    if (condition_) {
      require_conditionally(key);
    } else {
      schema_["required"].push_back(key);
    }
    add<Member>(key, kind, std::string(description));
  }
  template <class Member, class Kind>
  void optional(std::string_view key, Member& member, const Kind& kind, std::string_view description) {
    Json& property = add<Member>(key, kind, std::string(description));
    add_default(property, member, kind);
  }
  template <class Member, class Kind>
  void optional(std::string_view key, Member&, const Kind& kind, std::string_view description,
                const SameAs<Member>& same) {
    add<Member>(key, kind, fmt::format("{} (default: same as {})", description, same.key));
  }
  template <class Member, class Kind>
  void optional(std::string_view key, Member&, const Kind& kind, std::string_view description,
                Absent absent) {
    add<Member>(key, kind, fmt::format("{} (default: {})", description, absent.meaning));
  }

  void only_if(const OnlyIf& condition) { condition_ = condition; }
  void always() { condition_.reset(); }

  [[nodiscard]] const Json& schema() const { return schema_; }

  // The schema of a section, without its description.
  template <class Struct>
  [[nodiscard]] static Json of() {
    SchemaVisitor visitor;
    Struct section{};
    describe(visitor, section);
    return visitor.schema();
  }

 private:
  template <class Member, class Kind>
  static Json schema_of(const Kind& kind) {
    return kind.schema();
  }
  template <class Struct>
  struct Held {
    using type = Struct;
  };
  template <class Struct>
  struct Held<std::optional<Struct>> {
    using type = Struct;
  };
  template <class Struct, class Kind>
  requires std::is_same_v<Kind, Section>
  static Json schema_of(const Kind&) { return of<typename Held<Struct>::type>(); }
  template <class Member>
  static Json schema_of(const KeyPathValues&) {
    return {{"type", "object"}, {"minProperties", 0}};
  }
  template <class List, class Kind>
  static Json schema_of(const ListOf<Kind>& list) {
    Json schema{{"type", "array"}, {"items", schema_of<typename List::value_type>(list.kind)}};
    if (list.minimum_items > 0) schema["minItems"] = list.minimum_items;
    if (list.maximum_items < std::numeric_limits<std::size_t>::max()) schema["maxItems"] = list.maximum_items;
    return schema;
  }

  // "If the deciding key has one of these values, then this key is required."
  void require_conditionally(std::string_view key) {
    Json decided = Json::object();
    decided[std::string(condition_->key)] = {{"enum", condition_->values}};
    const Json condition{{"properties", decided}, {"required", Json::array({condition_->key})}};
    for (Json& rule : schema_["allOf"])
      if (rule["if"] == condition) return rule["then"]["required"].push_back(key);
    schema_["allOf"].push_back({{"if", condition}, {"then", {{"required", Json::array({key})}}}});
  }

  template <class Member, class Kind>
  Json& add(std::string_view key, const Kind& kind, std::string description) {
    if (condition_) description += fmt::format(" (only for `{}`)", condition_->text());
    Json property{{"description", std::move(description)}};
    property.update(schema_of<Member>(kind));
    return schema_["properties"][std::string(key)] = std::move(property);
  }

  // Numbers and truth values appear as such, everything else as the text one would write.
  template <class Member, class Kind>
  static void add_default(Json& property, const Member& value, const Kind& kind) {
    const std::string text = kind.print(value);
    const Json parsed = Json::parse(text, nullptr, false);
    property["default"] = parsed.is_discarded() ? Json(text) : parsed;
  }
  template <class Member>
  static void add_default(Json&, const Member&, const Section&) {}
  template <class Member, class Kind>
  static void add_default(Json& property, const Member&, const ListOf<Kind>&) {
    property["default"] = Json::array();
  }

  Json schema_;
  std::optional<OnlyIf> condition_;
};

}  // namespace paceline

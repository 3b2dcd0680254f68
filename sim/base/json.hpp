// Values as JSON: quantities and ids as plain numbers in base units, what is absent as null, enumerations by
// name. For sources: it includes <nlohmann/json.hpp>.
#pragma once

#include <concepts>
#include <cstddef>
#include <optional>
#include <string>

#include <nlohmann/json.hpp>

#include "sim/base/check.hpp"
#include "sim/base/id.hpp"
#include "sim/base/quantity.hpp"

namespace paceline {

// Of an enumeration that counts from 0 and has a to_string: its last value.
template <class Enum>
struct LastValue;

}  // namespace paceline

namespace nlohmann {

template <int Time, int Data>
struct adl_serializer<paceline::Quantity<Time, Data>> {
  template <class Json>
  static void to_json(Json& json, paceline::Quantity<Time, Data> quantity) {
    json = quantity.value();
  }
  template <class Json>
  static void from_json(const Json& json, paceline::Quantity<Time, Data>& quantity) {
    quantity = paceline::Quantity<Time, Data>{json.template get<double>()};
  }
};

template <class Tag>
struct adl_serializer<paceline::Id<Tag>> {
  template <class Json>
  static void to_json(Json& json, paceline::Id<Tag> id) {
    json = id.value;
  }
  template <class Json>
  static void from_json(const Json& json, paceline::Id<Tag>& id) {
    json.get_to(id.value);
  }
};

template <class Value>
struct adl_serializer<std::optional<Value>> {
  template <class Json>
  static void to_json(Json& json, const std::optional<Value>& value) {
    value ? json = *value : json = nullptr;
  }
  template <class Json>
  static void from_json(const Json& json, std::optional<Value>& value) {
    json.is_null() ? value.reset() : void(value = json.template get<Value>());
  }
};

template <class Enum>
requires requires {
  paceline::LastValue<Enum>::value;
}
struct adl_serializer<Enum> {
  template <class Json>
  static void to_json(Json& json, Enum value) {
    json = std::string(to_string(value));
  }
  template <class Json>
  static void from_json(const Json& json, Enum& value) {
    const auto name = json.template get<std::string>();
    for (std::size_t i = 0; i <= static_cast<std::size_t>(paceline::LastValue<Enum>::value); ++i)
      if (to_string(value = static_cast<Enum>(i)) == name) return;
    paceline::check(false, "a name that to_string gave");
  }
};

}  // namespace nlohmann

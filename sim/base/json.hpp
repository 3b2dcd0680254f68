// Quantities and optional values in JSON records: a quantity is its number, what is absent is null. For sources: it
// includes <nlohmann/json.hpp>.
#pragma once

#include <optional>

#include <nlohmann/json.hpp>

#include "sim/base/quantity.hpp"

template <class Value>
struct nlohmann::adl_serializer<std::optional<Value>> {
  template <class Json>
  static void to_json(Json& json, const std::optional<Value>& value) {
    json = value ? Json(*value) : Json(nullptr);
  }
  template <class Json>
  static void from_json(const Json& json, std::optional<Value>& value) {
    value = json.is_null() ? std::nullopt : std::optional(json.template get<Value>());
  }
};

template <int TimePower, int BytePower>
struct nlohmann::adl_serializer<paceline::Quantity<TimePower, BytePower>> {
  template <class Json>
  static void to_json(Json& json, paceline::Quantity<TimePower, BytePower> quantity) {
    json = quantity.value();
  }
};

#include "sim/cost/identity.hpp"

#include <fmt/format.h>

#include "sim/cost/json_field.hpp"

namespace paceline {
namespace {

std::optional<JsonField> known_member(const JsonField& object, const std::string& key) {
  if (!object.has(key)) return std::nullopt;
  const JsonField field = object.member(key);
  return field.is_null() ? std::nullopt : std::optional(field);
}

}  // namespace

Identity read_identity(const JsonField& root) {
  Identity identity;
  const JsonField network = root.member("network");
  if (const auto name = known_member(network, "name")) identity.network = name->text();
  if (const auto count = known_member(network, "parameter_count"))
    identity.parameter_count = count->integer(1);
  const auto dataset = known_member(root, "dataset");
  if (!dataset) return identity;
  if (const auto name = known_member(*dataset, "name")) identity.dataset = name->text();
  if (const auto classes = known_member(*dataset, "classes")) identity.classes = classes->integer(2);
  return identity;
}

std::string to_text(const Identity& identity) {
  std::string text = identity.network.value_or("a network not named");
  if (identity.parameter_count) text += fmt::format(" ({} parameters)", *identity.parameter_count);
  if (identity.dataset || identity.classes)
    text += " on " + identity.dataset.value_or("a data set not named");
  if (identity.classes) text += fmt::format(" ({} classes)", *identity.classes);
  return text;
}

bool differ(const Identity& a, const Identity& b) {
  const auto known_and_unequal = [](const auto& one, const auto& other) {
    return one && other && *one != *other;
  };
  return known_and_unequal(a.network, b.network) || known_and_unequal(a.parameter_count, b.parameter_count) ||
         known_and_unequal(a.dataset, b.dataset) || known_and_unequal(a.classes, b.classes);
}

}  // namespace paceline

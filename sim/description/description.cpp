#include "sim/description/description.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

namespace paceline {

std::string OnlyIf::text() const {
  return fmt::format("{}: {}", key, fmt::join(values, " or "));
}

std::string expectation_of(const Field& field) {
  if (const auto* scalar = field.as<ScalarField>()) return scalar->kind.expectation();
  if (const auto* list = field.as<ListField>())
    return fmt::format("a list with one item for each {}", list->noun);
  if (field.as<SectionField>() != nullptr) return "a section with keys of its own";
  return field.get<TreeField>().is_map ? "a map from key paths to values" : "a value";
}

void Visitor::pass(Key key) {
  key.condition = condition_ ? &*condition_ : nullptr;
  visit(key);
}

}  // namespace paceline

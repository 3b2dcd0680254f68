#include "sim/description/description.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

namespace paceline {

std::string OnlyIf::text() const {
  return fmt::format("{}: {}", key, fmt::join(values, " or "));
}

double number_of(const Plain& value) {
  if (const auto* whole = std::get_if<std::int64_t>(&value)) return static_cast<double>(*whole);
  if (const auto* amount = std::get_if<Amount>(&value)) return amount->value;
  return std::get<double>(value);
}

Plain plain_of(const std::string& value) {
  return value;
}
Plain plain_of(const std::filesystem::path& value) {
  return value.string();
}
Plain plain_of(const Threshold& value) {
  return value;
}
void assign(std::string& member, const Plain& value) {
  member = std::get<std::string>(value);
}
void assign(std::filesystem::path& member, const Plain& value) {
  member = std::get<std::string>(value);
}
void assign(Threshold& member, const Plain& value) {
  member = std::get<Threshold>(value);
}

std::string expectation_of(const Field& field) {
  struct Expectation {
    std::string operator()(const ScalarField* scalar) const { return scalar->kind().expectation(); }
    std::string operator()(const SectionField*) const { return "a section with keys of its own"; }
    std::string operator()(const ListField* list) const {
      return fmt::format("a list with one item for each {}", list->noun);
    }
    std::string operator()(const TreeField* tree) const {
      return tree->is_map() ? "a map from key paths to values" : "a value";
    }
  };
  return std::visit(Expectation{}, field);
}

void Visitor::pass(Key key) {
  key.condition = condition_ ? &*condition_ : nullptr;
  visit(key);
}

}  // namespace paceline

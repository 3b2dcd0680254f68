#include "sim/scenario/schema/threshold.hpp"

#include <array>
#include <utility>

namespace paceline {
namespace {

// Longer words first: `<` is also how `<=` begins.
constexpr std::array<std::pair<std::string_view, Comparison>, 4> words = {{{"<=", Comparison::at_most},
                                                                           {">=", Comparison::at_least},
                                                                           {"<", Comparison::below},
                                                                           {">", Comparison::above}}};

std::string_view word_of(Comparison comparison) {
  for (const auto& [word, meaning] : words)
    if (meaning == comparison) return word;
  check(false, "a comparison without a word");
  return {};
}

std::string_view trimmed_front(std::string_view text) {
  const std::size_t first = text.find_first_not_of(" \t\n");
  return first == text.npos ? std::string_view() : text.substr(first);
}

std::string_view trimmed_back(std::string_view text) {
  const std::size_t last = text.find_last_not_of(" \t\n");
  return last == text.npos ? std::string_view() : text.substr(0, last + 1);
}

}  // namespace

bool holds(const Threshold& threshold, double measured) {
  switch (threshold.comparison) {
    case Comparison::below:
      return measured < threshold.bound;
    case Comparison::at_most:
      return measured <= threshold.bound;
    case Comparison::above:
      return measured > threshold.bound;
    case Comparison::at_least:
      return measured >= threshold.bound;
  }
  return false;
}

Parsed<Threshold> ThresholdText::parse(const Scalar& scalar) const {
  std::string_view rest = trimmed_back(trimmed_front(scalar.text));
  const std::string hint = fmt::format("expected {}", expectation());
  Threshold threshold;
  bool compared = false;
  for (const auto& [word, meaning] : words) {
    if (compared || !rest.starts_with(word)) continue;
    threshold.comparison = meaning;
    rest = trimmed_front(rest.substr(word.size()));
    compared = true;
  }
  if (!compared) {
    const std::string message = fmt::format("`{}` does not begin with <, <=, > or >=", scalar.text);
    // YAML reads `> 0.9` as a folded text, and the operator is gone.
    return Mistake{message, fmt::format("{}; a text that begins with `>` needs quotes", hint)};
  }
  if (units == nullptr) {
    const std::optional<double> number = parse_number(rest);
    if (!number) return Mistake{fmt::format("`{}` is not a number", rest), hint};
    threshold.bound = *number;
  } else {
    const Parsed<double> parsed = parse_quantity(rest, *units);
    if (const auto* mistake = std::get_if<Mistake>(&parsed)) return *mistake;
    threshold.bound = std::get<double>(parsed);
  }
  if (!range.contains(threshold.bound)) return Mistake{fmt::format("`{}` is out of range", rest), hint};
  return threshold;
}

std::string ThresholdText::plain(const Threshold& value) const {
  const std::string bound =
      units == nullptr ? fmt::format("{}", value.bound) : print_quantity(value.bound, *units);
  return fmt::format("{} {}", word_of(value.comparison), bound);
}

std::string ThresholdText::print(const Threshold& value) const {
  return Json(plain(value)).dump();
}

Json ThresholdText::schema() const {
  constexpr std::string_view comparison = R"(^\s*(<=?|>=?))";
  constexpr std::string_view number = R"(\s*-?([0-9]+\.?[0-9]*|\.[0-9]+)([eE][+-]?[0-9]+)?\s*$)";
  const std::string bound = units == nullptr ? std::string(number) : quantity_pattern(*units).substr(1);
  return {{"type", "string"}, {"pattern", fmt::format("{}{}", comparison, bound)}};
}

std::string ThresholdText::expectation() const {
  const auto print_bound = [&](double bound) {
    return units == nullptr ? fmt::format("{}", bound) : print_quantity(bound, *units);
  };
  return fmt::format("a comparison with {} {}, such as `{}`", units == nullptr ? "a number" : units->noun,
                     range.text(print_bound), example);
}

}  // namespace paceline

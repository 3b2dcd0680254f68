#include "sim/description/kinds.hpp"

#include <algorithm>
#include <array>
#include <charconv>
#include <cmath>
#include <memory>

#include <fmt/format.h>
#include <fmt/ranges.h>
#include <nlohmann/json.hpp>

#include "sim/base/check.hpp"
#include "sim/base/diagnostic.hpp"
#include "sim/base/number_text.hpp"

namespace paceline {
namespace {

// Longer words first: `<` is also how `<=` begins.
constexpr std::array<std::pair<std::string_view, Comparison>, 4> comparisons = {{{"<=", Comparison::at_most},
                                                                                 {">=", Comparison::at_least},
                                                                                 {"<", Comparison::below},
                                                                                 {">", Comparison::above}}};

bool is_whole(double number) {
  return number == std::floor(number);
}

std::string print_number(double number) {
  return fmt::format("{}", number);
}

Mistake out_of_range(std::string_view text, const std::string& expectation) {
  return {fmt::format("`{}` is out of range", text), fmt::format("expected {}", expectation)};
}

// Quotes make a text of what would be a number; a reader that guessed would hide a mistake.
Mistake not_the_kind(const Scalar& scalar, const std::string& expectation, std::string hint) {
  if (scalar.quoted)
    return {fmt::format("expected {}, found a quoted text", expectation), "remove the quotes"};
  return {fmt::format("expected {}, found `{}`", expectation, scalar.text), std::move(hint)};
}

// For whoever writes a percentage where a number is expected: "write 0.8".
std::string fraction_hint(std::string_view text) {
  if (!text.ends_with('%')) return {};
  const std::optional<double> percent = parse_number(trimmed(text.substr(0, text.size() - 1)));
  return percent ? fmt::format("write {:.12g}", *percent / 100.0) : "write a number, without %";
}

bool is_plain_word(std::string_view text) {
  const auto letter = [](char c) { return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '/'; };
  const auto plain = [&](char c) {
    return letter(c) || (c >= '0' && c <= '9') || std::string_view("_.- ").find(c) != std::string_view::npos;
  };
  return !text.empty() && letter(text.front()) && text.back() != ' ' && std::ranges::all_of(text, plain) &&
         text != "null" && text != "Null" && text != "NULL";
}

// As it could stand in YAML: plain, or in the double quotes JSON and YAML share.
std::string print_text(const Plain& value) {
  const auto& text = std::get<std::string>(value);
  return is_plain_word(text) ? text : Json(text).dump();
}

// " from 0 to 1", " above 0 and below 1", with the bounds printed by `print`.
template <class Print>
std::string text_of(const Range& range, const Print& print) {
  const bool low = std::isfinite(range.minimum);
  const bool high = std::isfinite(range.maximum);
  if (low && high && !range.minimum_excluded && !range.maximum_excluded)
    return fmt::format(" from {} to {}", print(range.minimum), print(range.maximum));
  std::string words;
  if (low) words = fmt::format(" {} {}", range.minimum_excluded ? "above" : "at least", print(range.minimum));
  if (high)
    words += fmt::format("{} {} {}", low ? " and" : "", range.maximum_excluded ? "below" : "at most",
                         print(range.maximum));
  return words;
}

}  // namespace

double number_of(const Plain& value) {
  if (const auto* whole = std::get_if<std::int64_t>(&value)) return static_cast<double>(*whole);
  if (const auto* amount = std::get_if<Amount>(&value)) return amount->value;
  return std::get<double>(value);
}

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

bool Range::contains(double value) const {
  return (minimum_excluded ? value > minimum : value >= minimum) &&
         (maximum_excluded ? value < maximum : value <= maximum);
}

Text::Text() {
  parse = [](const Scalar& scalar) -> Parsed<Plain> {
    if (scalar.text.empty()) return Mistake{"expected a text, found an empty one", ""};
    return Plain{std::string(scalar.text)};
  };
  print = print_text;
  schema = [] { return Json{{"type", {"string", "number", "boolean"}}, {"minLength", 1}}; };
  expectation = [] { return "a text"; };
}

Path::Path() {
  parse = [](const Scalar& scalar) -> Parsed<Plain> {
    if (scalar.text.empty()) return Mistake{"expected a path, found an empty text", ""};
    return Plain{(scalar.folder / std::filesystem::path(scalar.text)).lexically_normal().string()};
  };
  print = print_text;
  schema = [] { return Json{{"type", "string"}, {"minLength", 1}}; };
  expectation = [] { return "a path"; };
}

Boolean::Boolean() {
  parse = [](const Scalar& scalar) -> Parsed<Plain> {
    if (!scalar.quoted && (scalar.text == "true" || scalar.text == "false"))
      return Plain{scalar.text == "true"};
    return not_the_kind(scalar, "`true` or `false`", "");
  };
  print = [](const Plain& value) { return std::get<bool>(value) ? "true" : "false"; };
  schema = [] { return Json{{"type", "boolean"}}; };
  expectation = [] { return "`true` or `false`"; };
}

Number::Number(Range range) {
  const auto expected = [range] { return fmt::format("a number{}", text_of(range, print_number)); };
  parse = [range, expected](const Scalar& scalar) -> Parsed<Plain> {
    const std::optional<double> number = parse_number(scalar.text);
    if (!number || scalar.quoted) return not_the_kind(scalar, expected(), fraction_hint(scalar.text));
    if (!range.contains(*number)) return out_of_range(scalar.text, expected());
    return Plain{*number};
  };
  print = [](const Plain& value) { return print_number(std::get<double>(value)); };
  schema = [range] {
    Json numbers{{"type", "number"}};
    if (std::isfinite(range.minimum))
      numbers[range.minimum_excluded ? "exclusiveMinimum" : "minimum"] = range.minimum;
    if (std::isfinite(range.maximum))
      numbers[range.maximum_excluded ? "exclusiveMaximum" : "maximum"] = range.maximum;
    return numbers;
  };
  expectation = expected;
}

Whole::Whole(std::int64_t minimum, std::int64_t maximum) {
  const auto expected = [=] {
    if (maximum >= largest) return fmt::format("a whole number, at least {}", minimum);
    return fmt::format("a whole number from {} to {}", minimum, maximum);
  };
  parse = [=](const Scalar& scalar) -> Parsed<Plain> {
    const std::string_view text = scalar.text;
    if (scalar.quoted) return not_the_kind(scalar, expected(), "");
    std::int64_t value = 0;
    const auto [end, status] = std::from_chars(text.data(), text.data() + text.size(), value);
    if (status == std::errc::result_out_of_range) return out_of_range(text, expected());
    if (status == std::errc{} && end == text.data() + text.size()) {
      const std::string_view digits = text.substr(text.starts_with('-') ? 1 : 0);
      if (digits.size() > 1 && digits.front() == '0')
        return Mistake{fmt::format("`{}` starts with a zero, which some readers take as octal", text),
                       "remove the leading zeros"};
      if (value < minimum || value > maximum) return out_of_range(text, expected());
      return Plain{value};
    }
    const std::optional<double> number = parse_number(text);
    const bool same_in_digits =
        number && is_whole(*number) && std::abs(*number) < static_cast<double>(largest);
    return Mistake{fmt::format("expected {}, in plain digits; found `{}`", expected(), text),
                   same_in_digits ? fmt::format("write {}", static_cast<std::int64_t>(*number)) : ""};
  };
  print = [](const Plain& value) { return fmt::format("{}", std::get<std::int64_t>(value)); };
  schema = [=] { return Json{{"type", "integer"}, {"minimum", minimum}, {"maximum", maximum}}; };
  expectation = expected;
}

Measured::Measured(std::vector<Accepted> accepted, std::string percent_hint) {
  std::vector<Dimension> dimensions;
  for (const Accepted& one : accepted) dimensions.push_back(one.dimension);
  const auto expected = [accepted, dimensions] {
    const auto print_bound = [&](double bound) { return print_amount({dimensions.front(), bound}); };
    std::vector<std::string> examples;
    for (const Dimension dimension : dimensions)
      examples.push_back(fmt::format("`{}`", units_of(dimension).example));
    return fmt::format("{}{}, such as {}", noun_of(dimensions),
                       dimensions.size() == 1 ? text_of(accepted.front().range, print_bound) : "",
                       fmt::join(examples, ", "));
  };
  parse = [accepted, dimensions, expected,
           percent_hint = std::move(percent_hint)](const Scalar& scalar) -> Parsed<Plain> {
    Parsed<Amount> parsed = parse_amount(scalar.text, dimensions);
    if (auto* mistake = std::get_if<Mistake>(&parsed)) {
      if (scalar.text.ends_with('%') && !percent_hint.empty()) mistake->hint = percent_hint;
      return *mistake;
    }
    const Amount& amount = std::get<Amount>(parsed);
    const UnitTable& table = units_of(amount.dimension);
    const auto rules = std::ranges::find(accepted, amount.dimension, &Accepted::dimension);
    if (!rules->range.contains(amount.value) ||
        (table.whole && amount.value > static_cast<double>(Whole::largest)))
      return out_of_range(scalar.text, expected());
    if (table.whole && !is_whole(amount.value))
      return Mistake{fmt::format("`{}` is not a whole number of {}", scalar.text, table.units.front().name),
                     ""};
    return Plain{amount};
  };
  print = [first = dimensions.front()](const Plain& value) {
    const auto* amount = std::get_if<Amount>(&value);
    return print_amount(amount != nullptr ? *amount : Amount{first, number_of(value)});
  };
  schema = [dimensions] {
    return Json{{"type", "string"}, {"pattern", fmt::format("^{}", amount_pattern(dimensions))}};
  };
  expectation = expected;
}

Measured duration(Range range) {
  return Measured{{{Dimension::time, range}}};
}
Measured size(Range range) {
  return Measured{{{Dimension::size, range}}};
}
Measured rate(Range range) {
  return Measured{{{Dimension::rate, range}}};
}
Measured operation_rate(Range range) {
  return Measured{{{Dimension::operation_rate, range}}};
}
Measured price(Range range) {
  return Measured{{{Dimension::price, range}}};
}
Measured percent(Range range) {
  return Measured{{{Dimension::percent, range}}};
}
Measured iterations() {
  return Measured{{{Dimension::iterations, at_least(1)}}};
}
Measured updates() {
  return Measured{{{Dimension::updates, at_least(1)}}};
}
Measured how_many() {
  return Measured{
      {{Dimension::samples, above(0)}, {Dimension::updates, above(0)}, {Dimension::epochs, above(0)}}};
}

ThresholdText::ThresholdText(std::optional<Dimension> dimension, Range bound, std::string example)
    : has_unit(dimension.has_value()) {
  const auto print_bound = [dimension](double number) {
    return dimension ? print_amount({*dimension, number}) : print_number(number);
  };
  const auto expected = [=] {
    return fmt::format("a comparison with {}{}, such as `{}`",
                       dimension ? units_of(*dimension).noun : "a number", text_of(bound, print_bound),
                       example);
  };
  parse = [=](const Scalar& scalar) -> Parsed<Plain> {
    const std::string_view text = trimmed(scalar.text);
    const std::string hint = fmt::format("expected {}", expected());
    const auto comparison =
        std::ranges::find_if(comparisons, [&](const auto& entry) { return text.starts_with(entry.first); });
    // YAML reads a bare `> 0.9` as a folded text, and the operator is gone.
    if (comparison == comparisons.end())
      return Mistake{fmt::format("`{}` does not begin with <, <=, > or >=", scalar.text),
                     fmt::format("{}; a text that begins with `>` needs quotes", hint)};
    const std::string_view rest = trimmed(text.substr(comparison->first.size()));
    const Parsed<Amount> amount = dimension ? parse_amount(rest, std::span(&*dimension, 1)) : Amount{};
    if (const auto* mistake = std::get_if<Mistake>(&amount)) return *mistake;
    const std::optional<double> number = dimension ? std::get<Amount>(amount).value : parse_number(rest);
    if (!number) return Mistake{fmt::format("`{}` is not a number", rest), hint};
    if (!bound.contains(*number)) return Mistake{fmt::format("`{}` is out of range", rest), hint};
    return Plain{Threshold{comparison->second, *number}};
  };
  plain = [=](const Threshold& value) {
    const auto word =
        std::ranges::find(comparisons, value.comparison, &std::pair<std::string_view, Comparison>::second);
    return fmt::format("{} {}", word->first, print_bound(value.bound));
  };
  print = [as_text = plain](const Plain& value) { return Json(as_text(std::get<Threshold>(value))).dump(); };
  schema = [dimension] {
    const std::string amount =
        dimension ? amount_pattern(std::span(&*dimension, 1)) : fmt::format("{}$", number_pattern);
    return Json{{"type", "string"}, {"pattern", fmt::format(R"(^\s*(<=?|>=?){})", amount)}};
  };
  expectation = expected;
}

Choice::Choice(std::vector<Word> all_words) {
  const auto words = std::make_shared<const std::vector<Word>>(std::move(all_words));
  const auto texts = [words] {
    std::vector<std::string> all;
    for (const Word& word : *words) all.push_back(word.text);
    return all;
  };
  parse = [words, texts](const Scalar& scalar) -> Parsed<Plain> {
    const auto word = std::ranges::find(*words, scalar.text, &Word::text);
    if (word != words->end()) return word->meaning;
    const std::optional<std::string> likely = closest(scalar.text, texts());
    const std::string all = fmt::format("expected one of: {}", fmt::join(texts(), ", "));
    return Mistake{fmt::format("unknown value `{}`", scalar.text),
                   likely ? fmt::format("did you mean `{}`? {}", *likely, all) : all};
  };
  print = [words](const Plain& value) {
    const auto word = std::ranges::find(*words, value, &Word::meaning);
    check(word != words->end(), "a value that has no word in its choice");
    return word->text;
  };
  schema = [texts] { return Json{{"enum", texts()}}; };
  expectation = [texts] { return fmt::format("one of {}", fmt::join(texts(), ", ")); };
}

}  // namespace paceline

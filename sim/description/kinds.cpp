#include "sim/description/kinds.hpp"

#include <algorithm>
#include <array>
#include <charconv>
#include <cmath>

#include <fmt/format.h>
#include <fmt/ranges.h>
#include <nlohmann/json.hpp>

#include "sim/base/check.hpp"
#include "sim/base/diagnostic.hpp"

namespace paceline {
namespace {

bool is_whole(double number) {
  return number == std::floor(number);
}

Mistake out_of_range(std::string_view text, const std::string& expectation) {
  return {fmt::format("`{}` is out of range", text), fmt::format("expected {}", expectation)};
}

// Quotes make a text of what would be a number; a reader that guessed would hide a mistake.
std::optional<Mistake> quoted_mistake(const Scalar& scalar, const std::string& expectation) {
  if (!scalar.quoted) return std::nullopt;
  return Mistake{fmt::format("expected {}, found a quoted text", expectation), "remove the quotes"};
}

bool is_plain_word(std::string_view text) {
  const auto plain = [](char c) {
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '_' ||
           c == '.' || c == '/' || c == '-' || c == ' ';
  };
  const auto letter = [](char c) { return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '/'; };
  return !text.empty() && letter(text.front()) && text.back() != ' ' &&
         std::all_of(text.begin(), text.end(), plain) && text != "null" && text != "Null" && text != "NULL";
}

// As it could stand in YAML: plain, or in the double quotes JSON and YAML share.
std::string print_text(const std::string& text) {
  return is_plain_word(text) ? text : Json(text).dump();
}

// "from 0 to 1", "above 0 and below 1", with the bounds printed by `print`.
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

std::string print_number(double number) {
  return fmt::format("{}", number);
}

}  // namespace

bool Range::contains(double value) const {
  return (minimum_excluded ? value > minimum : value >= minimum) &&
         (maximum_excluded ? value < maximum : value <= maximum);
}

Parsed<Plain> Text::parse(const Scalar& scalar) const {
  if (scalar.text.empty()) return Mistake{"expected a text, found an empty one", ""};
  return Plain{std::string(scalar.text)};
}
std::string Text::print(const Plain& value) const {
  return print_text(std::get<std::string>(value));
}
Json Text::schema() const {
  return {{"type", {"string", "number", "boolean"}}, {"minLength", 1}};
}

Parsed<Plain> Path::parse(const Scalar& scalar) const {
  if (scalar.text.empty()) return Mistake{"expected a path, found an empty text", ""};
  return Plain{(scalar.folder / std::filesystem::path(scalar.text)).lexically_normal().string()};
}
std::string Path::print(const Plain& value) const {
  return print_text(std::get<std::string>(value));
}
Json Path::schema() const {
  return {{"type", "string"}, {"minLength", 1}};
}

Parsed<Plain> Boolean::parse(const Scalar& scalar) const {
  if (auto mistake = quoted_mistake(scalar, expectation())) return *mistake;
  if (scalar.text == "true" || scalar.text == "false") return Plain{scalar.text == "true"};
  return Mistake{fmt::format("expected {}, found `{}`", expectation(), scalar.text), ""};
}
std::string Boolean::print(const Plain& value) const {
  return std::get<bool>(value) ? "true" : "false";
}
Json Boolean::schema() const {
  return {{"type", "boolean"}};
}

Parsed<Plain> Number::parse(const Scalar& scalar) const {
  if (auto mistake = quoted_mistake(scalar, expectation())) return *mistake;
  const std::optional<double> number = parse_number(scalar.text);
  if (!number)
    return Mistake{fmt::format("expected {}, found `{}`", expectation(), scalar.text),
                   scalar.text.ends_with('%') ? "write a fraction: 0.8 instead of 80 %" : ""};
  if (!range_.contains(*number)) return out_of_range(scalar.text, expectation());
  return Plain{*number};
}
std::string Number::print(const Plain& value) const {
  return print_number(std::get<double>(value));
}
Json Number::schema() const {
  Json schema{{"type", "number"}};
  if (std::isfinite(range_.minimum))
    schema[range_.minimum_excluded ? "exclusiveMinimum" : "minimum"] = range_.minimum;
  if (std::isfinite(range_.maximum))
    schema[range_.maximum_excluded ? "exclusiveMaximum" : "maximum"] = range_.maximum;
  return schema;
}
std::string Number::expectation() const {
  return fmt::format("a number{}", text_of(range_, print_number));
}

Parsed<Plain> Whole::parse(const Scalar& scalar) const {
  if (auto mistake = quoted_mistake(scalar, expectation())) return *mistake;
  const std::string_view text = scalar.text;
  const std::string_view digits = text.substr(text.starts_with('-') ? 1 : 0);
  std::int64_t value = 0;
  const auto [end, status] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (status == std::errc::result_out_of_range) return out_of_range(text, expectation());
  if (status == std::errc{} && end == text.data() + text.size()) {
    if (digits.size() > 1 && digits.front() == '0')
      return Mistake{fmt::format("`{}` starts with a zero, which some readers take as octal", text),
                     "remove the leading zeros"};
    if (value < minimum_ || value > maximum_) return out_of_range(text, expectation());
    return Plain{value};
  }
  const std::optional<double> number = parse_number(text);
  const bool same_in_digits = number && is_whole(*number) && std::abs(*number) < static_cast<double>(largest);
  return Mistake{fmt::format("expected {}, in plain digits; found `{}`", expectation(), text),
                 same_in_digits ? fmt::format("write {}", static_cast<std::int64_t>(*number)) : ""};
}
std::string Whole::print(const Plain& value) const {
  return fmt::format("{}", std::get<std::int64_t>(value));
}
Json Whole::schema() const {
  return {{"type", "integer"}, {"minimum", minimum_}, {"maximum", maximum_}};
}
std::string Whole::expectation() const {
  if (maximum_ >= largest) return fmt::format("a whole number, at least {}", minimum_);
  return fmt::format("a whole number from {} to {}", minimum_, maximum_);
}

Measured::Measured(std::vector<Accepted> accepted, std::string percent_hint)
    : accepted_(std::move(accepted)), percent_hint_(std::move(percent_hint)) {
  for (const Accepted& one : accepted_) dimensions_.push_back(one.dimension);
}
Parsed<Plain> Measured::parse(const Scalar& scalar) const {
  Parsed<Amount> parsed = parse_amount(scalar.text, dimensions_);
  if (auto* mistake = std::get_if<Mistake>(&parsed)) {
    if (scalar.text.ends_with('%') && !percent_hint_.empty()) mistake->hint = percent_hint_;
    return *mistake;
  }
  const Amount& amount = std::get<Amount>(parsed);
  const UnitTable& table = units_of(amount.dimension);
  const auto rules = std::ranges::find(accepted_, amount.dimension, &Accepted::dimension);
  if (!rules->range.contains(amount.value) ||
      (table.whole && amount.value > static_cast<double>(Whole::largest)))
    return out_of_range(scalar.text, expectation());
  if (table.whole && !is_whole(amount.value))
    return Mistake{fmt::format("`{}` is not a whole number of {}", scalar.text, table.units.front().name),
                   ""};
  return Plain{amount};
}
std::string Measured::print(const Plain& value) const {
  if (const auto* amount = std::get_if<Amount>(&value)) return print_amount(*amount);
  const auto* number = std::get_if<double>(&value);
  return print_amount({dimensions_.front(),
                       number != nullptr ? *number : static_cast<double>(std::get<std::int64_t>(value))});
}
Json Measured::schema() const {
  return {{"type", "string"}, {"pattern", amount_pattern(dimensions_)}};
}
std::string Measured::expectation() const {
  const auto print = [&](double bound) { return print_amount({dimensions_.front(), bound}); };
  std::vector<std::string> examples;
  for (const Dimension dimension : dimensions_)
    examples.push_back(fmt::format("`{}`", units_of(dimension).example));
  return fmt::format("{}{}, such as {}", noun_of(dimensions_),
                     dimensions_.size() == 1 ? text_of(accepted_.front().range, print) : "",
                     fmt::join(examples, ", "));
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

namespace {

// Longer words first: `<` is also how `<=` begins.
constexpr std::array<std::pair<std::string_view, Comparison>, 4> comparisons = {{{"<=", Comparison::at_most},
                                                                                 {">=", Comparison::at_least},
                                                                                 {"<", Comparison::below},
                                                                                 {">", Comparison::above}}};

std::string_view without_spaces(std::string_view text) {
  const std::size_t first = text.find_first_not_of(" \t\n");
  return first == text.npos ? std::string_view()
                            : text.substr(first, text.find_last_not_of(" \t\n") - first + 1);
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

Parsed<Plain> ThresholdText::parse(const Scalar& scalar) const {
  const std::string_view text = without_spaces(scalar.text);
  const std::string hint = fmt::format("expected {}", expectation());
  const auto comparison =
      std::ranges::find_if(comparisons, [&](const auto& entry) { return text.starts_with(entry.first); });
  // YAML reads a bare `> 0.9` as a folded text, and the operator is gone.
  if (comparison == comparisons.end())
    return Mistake{fmt::format("`{}` does not begin with <, <=, > or >=", scalar.text),
                   fmt::format("{}; a text that begins with `>` needs quotes", hint)};
  const std::string_view rest = without_spaces(text.substr(comparison->first.size()));
  Threshold threshold{comparison->second, 0.0};
  if (!dimension_) {
    const std::optional<double> number = parse_number(rest);
    if (!number) return Mistake{fmt::format("`{}` is not a number", rest), hint};
    threshold.bound = *number;
  } else {
    const Parsed<Amount> parsed = parse_amount(rest, std::span(&*dimension_, 1));
    if (const auto* mistake = std::get_if<Mistake>(&parsed)) return *mistake;
    threshold.bound = std::get<Amount>(parsed).value;
  }
  if (!bound_.contains(threshold.bound)) return Mistake{fmt::format("`{}` is out of range", rest), hint};
  return Plain{threshold};
}
std::string ThresholdText::plain(const Threshold& value) const {
  const auto word =
      std::ranges::find(comparisons, value.comparison, &std::pair<std::string_view, Comparison>::second);
  return fmt::format("{} {}", word->first,
                     dimension_ ? print_amount({*dimension_, value.bound}) : print_number(value.bound));
}
std::string ThresholdText::print(const Plain& value) const {
  return Json(plain(std::get<Threshold>(value))).dump();
}
Json ThresholdText::schema() const {
  constexpr std::string_view number = R"(\s*-?([0-9]+\.?[0-9]*|\.[0-9]+)([eE][+-]?[0-9]+)?\s*$)";
  const std::string bound =
      dimension_ ? amount_pattern(std::span(&*dimension_, 1)).substr(1) : std::string(number);
  return {{"type", "string"}, {"pattern", fmt::format(R"(^\s*(<=?|>=?){})", bound)}};
}
std::string ThresholdText::expectation() const {
  const auto print = [&](double bound) {
    return dimension_ ? print_amount({*dimension_, bound}) : print_number(bound);
  };
  return fmt::format("a comparison with {}{}, such as `{}`",
                     dimension_ ? units_of(*dimension_).noun : "a number", text_of(bound_, print), example_);
}

std::vector<std::string> Choice::texts() const {
  std::vector<std::string> all;
  for (const Word& word : words_) all.push_back(word.text);
  return all;
}
Parsed<Plain> Choice::parse(const Scalar& scalar) const {
  for (const Word& word : words_)
    if (word.text == scalar.text) return word.meaning;
  const std::vector<std::string> accepted = texts();
  const std::optional<std::string> likely = closest(scalar.text, accepted);
  const std::string all = fmt::format("expected one of: {}", fmt::join(accepted, ", "));
  return Mistake{fmt::format("unknown value `{}`", scalar.text),
                 likely ? fmt::format("did you mean `{}`? {}", *likely, all) : all};
}
std::string Choice::print(const Plain& value) const {
  for (const Word& word : words_)
    if (word.meaning == value) return word.text;
  check(false, "a value that has no word in its choice");
  return {};
}
Json Choice::schema() const {
  return {{"enum", texts()}};
}
std::string Choice::expectation() const {
  return fmt::format("one of {}", fmt::join(texts(), ", "));
}

}  // namespace paceline

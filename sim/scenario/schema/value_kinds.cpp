#include "sim/scenario/schema/value_kinds.hpp"

#include <array>
#include <charconv>
#include <cmath>

#include <fmt/ranges.h>

namespace paceline {
namespace {

// "epochs" may be parts of one; samples and updates are whole.
constexpr std::array<Unit, 6> count_units{{{"samples", 1, 1},
                                           {"updates", 1, 1},
                                           {"epochs", 1, 1},
                                           {"sample", 1, 1, true},
                                           {"update", 1, 1, true},
                                           {"epoch", 1, 1, true}}};
constexpr UnitTable count_table{"a number of samples, updates or epochs", "2048 samples", count_units};
constexpr std::array<Unit, 2> iteration_units{{{"iterations", 1, 1}, {"iteration", 1, 1, true}}};
constexpr UnitTable iteration_table{"a number of iterations", "10 iterations", iteration_units};
constexpr std::array<Unit, 2> update_units{{{"updates", 1, 1}, {"update", 1, 1, true}}};
constexpr UnitTable update_table{"a number of updates", "50 updates", update_units};
constexpr std::array<Unit, 4> period_units{
    {{"iterations", 1, 1}, {"epochs", 1, 1}, {"iteration", 1, 1, true}, {"epoch", 1, 1, true}}};
constexpr UnitTable period_table{"a number of iterations or epochs", "10 iterations", period_units};
constexpr double largest_count = 0x1.0p53;  // beyond it, doubles skip whole numbers

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

}  // namespace

bool Range::contains(double value) const {
  return (minimum_excluded ? value > minimum : value >= minimum) &&
         (maximum_excluded ? value < maximum : value <= maximum);
}

Parsed<std::string> Text::parse(const Scalar& scalar) const {
  if (scalar.text.empty()) return Mistake{"expected a text, found an empty one", ""};
  return std::string(scalar.text);
}
std::string Text::print(const Value& value) const {
  return print_text(value);
}
Json Text::schema() const {
  return {{"type", {"string", "number", "boolean"}}, {"minLength", 1}};
}

Parsed<std::filesystem::path> Path::parse(const Scalar& scalar) const {
  if (scalar.text.empty()) return Mistake{"expected a path, found an empty text", ""};
  return (scalar.folder / std::filesystem::path(scalar.text)).lexically_normal();
}
std::string Path::print(const Value& value) const {
  return print_text(value.string());
}
Json Path::schema() const {
  return {{"type", "string"}, {"minLength", 1}};
}

Parsed<bool> Boolean::parse(const Scalar& scalar) const {
  if (auto mistake = quoted_mistake(scalar, expectation())) return *mistake;
  if (scalar.text == "true") return true;
  if (scalar.text == "false") return false;
  return Mistake{fmt::format("expected {}, found `{}`", expectation(), scalar.text), ""};
}

Parsed<double> Number::parse(const Scalar& scalar) const {
  if (auto mistake = quoted_mistake(scalar, expectation())) return *mistake;
  const std::optional<double> number = parse_number(scalar.text);
  if (!number) {
    const bool percentage = scalar.text.ends_with('%');
    return Mistake{fmt::format("expected {}, found `{}`", expectation(), scalar.text),
                   percentage ? "write a fraction: 0.8 instead of 80 %" : ""};
  }
  if (!range.contains(*number)) return out_of_range(scalar.text, expectation());
  return *number;
}

Json Number::schema() const {
  Json schema{{"type", "number"}};
  if (std::isfinite(range.minimum))
    schema[range.minimum_excluded ? "exclusiveMinimum" : "minimum"] = range.minimum;
  if (std::isfinite(range.maximum))
    schema[range.maximum_excluded ? "exclusiveMaximum" : "maximum"] = range.maximum;
  return schema;
}

std::string Number::expectation() const {
  return fmt::format("a number {}", range.text([](double bound) { return fmt::format("{}", bound); }));
}

Parsed<std::int64_t> WholeNumber::parse(const Scalar& scalar) const {
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
    if (value < minimum || value > maximum) return out_of_range(text, expectation());
    return value;
  }
  const std::optional<double> number = parse_number(text);
  const bool same_in_digits = number && is_whole(*number) && std::abs(*number) < largest_count;
  return Mistake{fmt::format("expected {}, in plain digits; found `{}`", expectation(), text),
                 same_in_digits ? fmt::format("write {}", static_cast<std::int64_t>(*number)) : ""};
}

Json WholeNumber::schema() const {
  return {{"type", "integer"}, {"minimum", minimum}, {"maximum", maximum}};
}

std::string WholeNumber::expectation() const {
  if (maximum >= 1LL << 53U) return fmt::format("a whole number, at least {}", minimum);
  return fmt::format("a whole number from {} to {}", minimum, maximum);
}

Parsed<double> QuantityText::parse(const Scalar& scalar) const {
  Parsed<double> parsed = parse_quantity(scalar.text, table);
  if (const double* value = std::get_if<double>(&parsed); value != nullptr && !range.contains(*value))
    return out_of_range(scalar.text, expectation());
  return parsed;
}

Json QuantityText::schema() const {
  return {{"type", "string"}, {"pattern", quantity_pattern(table)}};
}

std::string QuantityText::expectation() const {
  const std::string bounds = range.text([&](double bound) { return print_quantity(bound, table); });
  return fmt::format("{} {}, such as `{}`", table.noun, bounds, table.example);
}

namespace {

Number schedule_epochs() {
  return {above(0)};
}
Measured<double> schedule_progress() {
  return percent(above_up_to(0, 1));
}
WholeNumber schedule_steps() {
  return {1, static_cast<std::int64_t>(largest_count)};
}

}  // namespace

Parsed<double> SchedulePoint::parse(const Scalar& scalar) const {
  if (basis == ScheduleBasis::progress) return schedule_progress().parse(scalar);
  if (scalar.text.ends_with('%'))
    return Mistake{fmt::format("expected {}, found `{}`", expectation(), scalar.text),
                   "points in percent have `basis: progress`"};
  if (basis == ScheduleBasis::epoch) return schedule_epochs().parse(scalar);
  const Parsed<std::int64_t> steps = schedule_steps().parse(scalar);
  if (const auto* mistake = std::get_if<Mistake>(&steps)) return *mistake;
  return static_cast<double>(std::get<std::int64_t>(steps));
}
std::string SchedulePoint::print(Value value) const {
  return basis == ScheduleBasis::progress ? schedule_progress().print(value) : fmt::format("{}", value);
}
Json SchedulePoint::schema() {
  return {{"anyOf", {schedule_epochs().schema(), schedule_progress().schema()}}};
}
std::string SchedulePoint::expectation() const {
  switch (basis) {
    case ScheduleBasis::epoch:
      break;
    case ScheduleBasis::progress:
      return schedule_progress().expectation();
    case ScheduleBasis::step:
      return schedule_steps().expectation();
  }
  return schedule_epochs().expectation();
}

Parsed<Count> HowMany::parse(const Scalar& scalar) const {
  const Parsed<NumberAndUnit> parsed = parse_with_unit(scalar.text, count_table);
  if (const auto* mistake = std::get_if<Mistake>(&parsed)) return *mistake;
  const auto& [number, unit] = std::get<NumberAndUnit>(parsed);
  if (number <= 0.0 || number > largest_count)
    return out_of_range(scalar.text, fmt::format("{} above 0", count_table.noun));
  if (unit->name.starts_with("epoch")) return Count{number, CountUnit::epochs};
  if (!is_whole(number))
    return Mistake{fmt::format("`{}` is not a whole number of {}", scalar.text, unit->name), ""};
  return Count{number, unit->name.starts_with("sample") ? CountUnit::samples : CountUnit::updates};
}

std::string HowMany::print(const Value& value) const {
  const char* unit = value.unit == CountUnit::samples   ? "samples"
                     : value.unit == CountUnit::updates ? "updates"
                                                        : "epochs";
  return fmt::format("{} {}", value.value, unit);
}
Json HowMany::schema() const {
  return {{"type", "string"}, {"pattern", quantity_pattern(count_table)}};
}
std::string HowMany::expectation() const {
  return fmt::format("{}, such as `{}`", count_table.noun, count_table.example);
}

Iterations::Iterations() : WholeCount{iteration_table} {}
Updates::Updates() : WholeCount{update_table} {}

Parsed<std::int64_t> WholeCount::parse(const Scalar& scalar) const {
  const Parsed<NumberAndUnit> parsed = parse_with_unit(scalar.text, table);
  if (const auto* mistake = std::get_if<Mistake>(&parsed)) return *mistake;
  const double number = std::get<NumberAndUnit>(parsed).number;
  if (!is_whole(number) || number < 1.0 || number > largest_count)
    return out_of_range(scalar.text,
                        fmt::format("a whole number of {}, at least 1", table.units.front().name));
  return static_cast<std::int64_t>(number);
}
std::string WholeCount::print(Value value) const {
  return fmt::format("{} {}", value, table.units.front().name);
}
Json WholeCount::schema() const {
  return {{"type", "string"}, {"pattern", quantity_pattern(table)}};
}
std::string WholeCount::expectation() const {
  return fmt::format("{}, such as `{}`", table.noun, table.example);
}

Parsed<AdjustmentPeriod> Period::parse(const Scalar& scalar) const {
  const Parsed<NumberAndUnit> parsed = parse_with_unit(scalar.text, period_table);
  if (const auto* mistake = std::get_if<Mistake>(&parsed)) return *mistake;
  const auto& [number, unit] = std::get<NumberAndUnit>(parsed);
  if (number <= 0.0 || number > largest_count)
    return out_of_range(scalar.text, fmt::format("{} above 0", period_table.noun));
  if (unit->name.starts_with("epoch")) return AdjustmentPeriod{EveryEpochs{number}};
  if (!is_whole(number)) return out_of_range(scalar.text, "a whole number of iterations, at least 1");
  return AdjustmentPeriod{EveryIterations{static_cast<std::int64_t>(number)}};
}
std::string Period::print(const Value& value) const {
  if (const auto* every = std::get_if<EveryIterations>(&value))
    return fmt::format("{} iterations", every->iterations);
  return fmt::format("{} epochs", std::get<EveryEpochs>(value).epochs);
}
Json Period::schema() const {
  return {{"type", "string"}, {"pattern", quantity_pattern(period_table)}};
}
std::string Period::expectation() const {
  return "a number of iterations or epochs, such as `10 iterations`";
}

Mistake not_a_choice(std::string_view word, const std::vector<std::string>& accepted) {
  const std::optional<std::string> likely = closest(word, accepted);
  const std::string all = fmt::format("expected one of: {}", fmt::join(accepted, ", "));
  return {fmt::format("unknown value `{}`", word),
          likely ? fmt::format("did you mean `{}`? {}", *likely, all) : all};
}

}  // namespace paceline

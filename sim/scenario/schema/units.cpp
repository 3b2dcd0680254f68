#include "sim/scenario/schema/units.hpp"

#include <algorithm>
#include <array>
#include <bit>
#include <charconv>
#include <cmath>
#include <cstdint>
#include <limits>
#include <map>
#include <utility>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "sim/base/check.hpp"
#include "sim/base/diagnostic.hpp"

namespace paceline {
namespace {

constexpr std::array<Unit, 6> durations{
    {{"ns", 1, 1e9}, {"us", 1, 1e6}, {"ms", 1, 1e3}, {"s", 1, 1}, {"min", 60, 1}, {"h", 3600, 1}}};
constexpr std::array<Unit, 7> sizes{{{"B", 1, 1},
                                     {"kB", 1e3, 1},
                                     {"MB", 1e6, 1},
                                     {"GB", 1e9, 1},
                                     {"KiB", 1024, 1},
                                     {"MiB", 1024.0 * 1024, 1},
                                     {"GiB", 1024.0 * 1024 * 1024, 1}}};
constexpr std::array<Unit, 12> rates{{{"bit/s", 1, 8},
                                      {"kbit/s", 1e3, 8},
                                      {"Mbit/s", 1e6, 8},
                                      {"Gbit/s", 1e9, 8},
                                      {"B/s", 1, 1},
                                      {"kB/s", 1e3, 1},
                                      {"MB/s", 1e6, 1},
                                      {"GB/s", 1e9, 1},
                                      {"bps", 1, 8, true},
                                      {"kbps", 1e3, 8, true},
                                      {"Mbps", 1e6, 8, true},
                                      {"Gbps", 1e9, 8, true}}};
constexpr std::array<Unit, 1> percents{{{"%", 1, 100}}};
constexpr std::array<Unit, 2> flop_rates{{{"GFLOP/s", 1e9, 1}, {"TFLOP/s", 1e12, 1}}};

bool starts_number(std::string_view text) {
  if (text.starts_with('-')) text.remove_prefix(1);
  if (text.starts_with('.')) text.remove_prefix(1);
  return !text.empty() && text.front() >= '0' && text.front() <= '9';
}

// The number a text starts with, which is then removed from it.
std::optional<double> take_number(std::string_view& text) {
  if (!starts_number(text)) return std::nullopt;
  double number = 0.0;
  const auto [end, status] = std::from_chars(text.data(), text.data() + text.size(), number);
  if (status != std::errc{} || !std::isfinite(number)) return std::nullopt;
  text.remove_prefix(static_cast<std::size_t>(end - text.data()));
  return number;
}

std::string_view trimmed(std::string_view text) {
  const std::size_t first = text.find_first_not_of(" \t");
  if (first == text.npos) return {};
  return text.substr(first, text.find_last_not_of(" \t") - first + 1);
}

std::vector<std::string> names(const UnitTable& table) {
  std::vector<std::string> all;
  for (const Unit& unit : table.units)
    if (!unit.synonym) all.emplace_back(unit.name);
  return all;
}

const Unit* find_unit(std::string_view name, const UnitTable& table) {
  const auto found = std::find_if(table.units.begin(), table.units.end(),
                                  [&](const Unit& unit) { return unit.name == name; });
  return found == table.units.end() ? nullptr : &*found;
}

std::string accepted(const UnitTable& table) {
  return fmt::format("write {} such as `{}`; accepted units: {}", table.noun, table.example,
                     fmt::join(names(table), ", "));
}

std::string lower_case(std::string_view text) {
  std::string lower(text);
  for (char& c : lower)
    if (c >= 'A' && c <= 'Z') c = static_cast<char>(c - 'A' + 'a');
  return lower;
}

// A slip of the shift key is likelier than another letter; and whoever writes `Gb/s` with a small b means bits.
std::optional<std::string> likely_unit(std::string_view name, const UnitTable& table) {
  const bool bits = name.ends_with("b/s");
  const std::string spelled =
      bits ? fmt::format("{}bit/s", name.substr(0, name.size() - 3)) : std::string(name);
  for (const std::string& unit : names(table))
    if (lower_case(unit) == lower_case(spelled)) return unit;
  return closest(name, names(table));
}

Mistake unknown_unit(std::string_view name, const UnitTable& table) {
  for (const UnitTable* other :
       {&duration_units(), &size_units(), &rate_units(), &percent_units(), &flop_rate_units()})
    if (find_unit(name, *other) != nullptr)
      return {fmt::format("wrong unit `{}`: that is {}, {} is expected", name, other->noun, table.noun),
              accepted(table)};
  const std::optional<std::string> likely = likely_unit(name, table);
  return {fmt::format("unknown unit `{}`", name),
          likely ? fmt::format("did you mean `{}`? {}", *likely, accepted(table)) : accepted(table)};
}

// The shortest number of this unit that parses back to `value`, if there is one.
std::optional<std::string> shortest_in(double value, const Unit& unit, const UnitTable& table) {
  constexpr int enough_digits = 17;
  constexpr double infinity = std::numeric_limits<double>::infinity();
  const double exact = value * unit.denominator / unit.numerator;
  std::vector<double> candidates;
  for (int digits = 1; digits <= enough_digits; ++digits)
    candidates.push_back(parse_number(fmt::format("{:.{}g}", exact, digits)).value_or(exact));
  // The conversion itself rounds: the number once written may be the next one.
  candidates.push_back(std::nextafter(exact, infinity));
  candidates.push_back(std::nextafter(exact, -infinity));
  for (const double number : candidates) {
    std::string text = fmt::format("{} {}", number, unit.name);
    const Parsed<double> back = parse_quantity(text, table);
    if (std::holds_alternative<double>(back) && std::get<double>(back) == value) return text;
  }
  return std::nullopt;
}

}  // namespace

const UnitTable& duration_units() {
  static const UnitTable table{"a duration", "50 us", durations};
  return table;
}
const UnitTable& size_units() {
  static const UnitTable table{"a size", "16 MB", sizes};
  return table;
}
const UnitTable& rate_units() {
  static const UnitTable table{"a rate", "10 Gbit/s", rates};
  return table;
}
const UnitTable& percent_units() {
  static const UnitTable table{"a percentage", "25 %", percents};
  return table;
}

const UnitTable& flop_rate_units() {
  static const UnitTable table{"a rate of operations", "2 TFLOP/s", flop_rates};
  return table;
}

std::optional<double> parse_number(std::string_view text) {
  const std::optional<double> number = take_number(text);
  return text.empty() ? number : std::nullopt;
}

Parsed<NumberAndUnit> parse_with_unit(std::string_view text, const UnitTable& table) {
  std::string_view rest = trimmed(text);
  const std::optional<double> number = take_number(rest);
  if (!number) return Mistake{fmt::format("`{}` is not {}", text, table.noun), accepted(table)};
  const std::string_view name = trimmed(rest);
  if (name.empty()) return Mistake{fmt::format("`{}` has no unit", text), accepted(table)};
  const Unit* unit = find_unit(name, table);
  if (unit == nullptr) return unknown_unit(name, table);
  return NumberAndUnit{*number, unit};
}

Parsed<double> parse_quantity(std::string_view text, const UnitTable& table) {
  const Parsed<NumberAndUnit> parsed = parse_with_unit(text, table);
  if (const auto* mistake = std::get_if<Mistake>(&parsed)) return *mistake;
  const auto& [number, unit] = std::get<NumberAndUnit>(parsed);
  const double value = number * unit->numerator / unit->denominator;
  if (!std::isfinite(value)) return Mistake{fmt::format("`{}` is too large", text), accepted(table)};
  return value;
}

namespace {

std::string shortest(double value, const UnitTable& table) {
  std::string best;
  for (const Unit& unit : table.units) {
    if (unit.synonym) continue;
    const std::optional<std::string> text = shortest_in(value, unit, table);
    if (text && (best.empty() || text->size() < best.size())) best = *text;
  }
  check(!best.empty(), "a quantity that no text stands for");
  return best;
}

}  // namespace

std::string print_quantity(double value, const UnitTable& table) {
  // The scenarios of a study print the same few quantities thousands of times, and trying every unit is slow.
  constexpr std::size_t most_remembered = 4096;
  static std::map<std::pair<const UnitTable*, std::uint64_t>, std::string> remembered;
  const std::pair key{&table, std::bit_cast<std::uint64_t>(value)};
  const auto found = remembered.find(key);
  if (found != remembered.end()) return found->second;
  if (remembered.size() >= most_remembered) remembered.clear();
  return remembered.emplace(key, shortest(value, table)).first->second;
}

std::string quantity_pattern(const UnitTable& table) {
  std::string alternatives;
  for (const Unit& unit : table.units)
    alternatives += fmt::format("{}{}", alternatives.empty() ? "" : "|", unit.name);
  return fmt::format(R"(^\s*-?([0-9]+\.?[0-9]*|\.[0-9]+)([eE][+-]?[0-9]+)?\s*({})\s*$)", alternatives);
}

}  // namespace paceline

#include "sim/description/units.hpp"

#include <algorithm>
#include <array>
#include <bit>
#include <cmath>
#include <cstdint>
#include <limits>
#include <map>
#include <utility>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "sim/base/check.hpp"
#include "sim/base/diagnostic.hpp"
#include "sim/base/number_text.hpp"

namespace paceline {
namespace {

constexpr auto durations = std::to_array<Unit>({{"ns", 1, 1e9},
                                                {"us", 1, 1e6},
                                                {"µs", 1, 1e6, true},
                                                {"ms", 1, 1e3},
                                                {"s", 1, 1},
                                                {"min", 60, 1},
                                                {"h", 3600, 1}});
constexpr auto sizes = std::to_array<Unit>(
    {{"B"}, {"kB", 1e3}, {"MB", 1e6}, {"GB", 1e9}, {"KiB", 0x1p10}, {"MiB", 0x1p20}, {"GiB", 0x1p30}});
constexpr auto rates = std::to_array<Unit>({{"bit/s", 1, 8},
                                            {"kbit/s", 1e3, 8},
                                            {"Mbit/s", 1e6, 8},
                                            {"Gbit/s", 1e9, 8},
                                            {"B/s"},
                                            {"kB/s", 1e3},
                                            {"MB/s", 1e6},
                                            {"GB/s", 1e9},
                                            {"bps", 1, 8, true},
                                            {"kbps", 1e3, 8, true},
                                            {"Mbps", 1e6, 8, true},
                                            {"Gbps", 1e9, 8, true}});
constexpr auto percents = std::to_array<Unit>({{"%", 1, 100}});
constexpr auto operation_rates = std::to_array<Unit>({{"GFLOP/s", 1e9}, {"TFLOP/s", 1e12}});
constexpr auto samples = std::to_array<Unit>({{"samples"}, {"sample", 1, 1, true}});
constexpr auto updates = std::to_array<Unit>({{"updates"}, {"update", 1, 1, true}});
constexpr auto epochs = std::to_array<Unit>({{"epochs"}, {"epoch", 1, 1, true}});
constexpr auto iterations = std::to_array<Unit>({{"iterations"}, {"iteration", 1, 1, true}});

constexpr auto prices = std::to_array<Unit>({{"per hour"}, {"per day", 1, 24}});

// By Dimension. "epochs" may be parts of one; the other counts are whole.
constexpr auto tables =
    std::to_array<UnitTable>({{"a duration", "50 us", durations},
                              {"a size", "16 MB", sizes},
                              {"a rate", "10 Gbit/s", rates},
                              {"a percentage", "25 %", percents},
                              {"a rate of operations", "2 TFLOP/s", operation_rates},
                              {"a number of samples", "2048 samples", samples, true},
                              {"a number of updates", "50 updates", updates, true},
                              {"a number of epochs", "5 epochs", epochs},
                              {"a number of iterations", "10 iterations", iterations, true},
                              {"a price", "0.90 per hour", prices}});

struct FoundUnit {
  Dimension dimension;
  const Unit* unit;
};

std::optional<FoundUnit> find_unit(std::string_view name, std::span<const Dimension> among) {
  for (const Dimension dimension : among)
    for (const Unit& unit : units_of(dimension).units)
      if (unit.name == name) return FoundUnit{dimension, &unit};
  return std::nullopt;
}

std::string accepted_units(std::span<const Dimension> accepted) {
  return fmt::format("write {} such as `{}`; accepted units: {}", noun_of(accepted),
                     units_of(accepted.front()).example, fmt::join(unit_names(accepted), ", "));
}

std::string lower_case(std::string_view text) {
  std::string lower(text);
  for (char& c : lower)
    if (c >= 'A' && c <= 'Z') c = static_cast<char>(c - 'A' + 'a');
  return lower;
}

// A slip of the shift key is likelier than another letter; and whoever writes `Gb/s` with a small b means
// bits.
std::optional<std::string> likely_unit(std::string_view name, const std::vector<std::string>& units) {
  const bool bits = name.ends_with("b/s");
  const std::string spelled =
      bits ? fmt::format("{}bit/s", name.substr(0, name.size() - 3)) : std::string(name);
  for (const std::string& unit : units)
    if (lower_case(unit) == lower_case(spelled)) return unit;
  return closest(name, units);
}

Mistake unknown_unit(std::string_view name, std::span<const Dimension> accepted) {
  for (std::size_t d = 0; d < tables.size(); ++d) {
    const Dimension other{static_cast<int>(d)};
    if (find_unit(name, std::span(&other, 1)))
      return {fmt::format("wrong unit `{}`: that is {}, {} is expected", name, tables.at(d).noun,
                          noun_of(accepted)),
              accepted_units(accepted)};
  }
  const std::optional<std::string> likely = likely_unit(name, unit_names(accepted));
  return {fmt::format("unknown unit `{}`", name),
          likely ? fmt::format("did you mean `{}`? {}", *likely, accepted_units(accepted))
                 : accepted_units(accepted)};
}

// The shortest number of this unit that parses back to the amount, if there is one.
std::optional<double> shortest_in(const Amount& amount, const Unit& unit) {
  constexpr int enough_digits = 17;
  constexpr double infinity = std::numeric_limits<double>::infinity();
  const double exact = amount.value * unit.denominator / unit.numerator;
  std::vector<double> candidates;
  for (int digits = 1; digits <= enough_digits; ++digits)
    candidates.push_back(parse_number(fmt::format("{:.{}g}", exact, digits)).value_or(exact));
  // The conversion itself rounds: the number once written may be the next one.
  candidates.push_back(std::nextafter(exact, infinity));
  candidates.push_back(std::nextafter(exact, -infinity));
  for (const double number : candidates)
    if (number * unit.numerator / unit.denominator == amount.value) return number;
  return std::nullopt;
}

// With the fewest digits: 20 min, not 1200 s.
std::string shortest(const Amount& amount) {
  std::string best;
  std::size_t best_digits = 0;
  for (const Unit& unit : units_of(amount.dimension).units) {
    if (unit.synonym) continue;
    const std::optional<double> number = shortest_in(amount, unit);
    if (!number) continue;
    const std::string digits = fmt::format("{}", *number);
    const std::string text = fmt::format("{} {}", digits, *number == 1.0 ? singular(unit.name) : unit.name);
    if (!best.empty() && std::pair(digits.size(), text.size()) >= std::pair(best_digits, best.size()))
      continue;
    best = text;
    best_digits = digits.size();
  }
  check(!best.empty(), "an amount that no text stands for");
  return best;
}

}  // namespace

const UnitTable& units_of(Dimension dimension) {
  return tables.at(static_cast<std::size_t>(dimension));
}

std::optional<double> parse_number(std::string_view text) {
  const std::optional<NumberText> split = split_number(text);
  return split && split->unit.empty() ? std::optional(split->number) : std::nullopt;
}

Parsed<Amount> parse_amount(std::string_view text, std::span<const Dimension> accepted) {
  const std::optional<NumberText> split = split_number(trimmed(text));
  if (!split)
    return Mistake{fmt::format("`{}` is not {}", text, noun_of(accepted)), accepted_units(accepted)};
  const std::string_view name = trimmed(split->unit);
  if (name.empty()) return Mistake{fmt::format("`{}` has no unit", text), accepted_units(accepted)};
  const std::optional<FoundUnit> found = find_unit(name, accepted);
  if (!found) return unknown_unit(name, accepted);
  const double value = split->number * found->unit->numerator / found->unit->denominator;
  if (!std::isfinite(value)) return Mistake{fmt::format("`{}` is too large", text), accepted_units(accepted)};
  return Amount{found->dimension, value};
}

std::string_view singular(std::string_view unit) {
  constexpr std::string_view counted[] = {"samples", "updates", "epochs", "iterations"};
  return std::ranges::count(counted, trimmed(unit)) > 0 ? unit.substr(0, unit.size() - 1) : unit;
}

std::string print_amount(const Amount& amount) {
  // The scenarios of a study print the same few amounts thousands of times, and trying every unit is slow.
  constexpr std::size_t most_remembered = 4096;
  static std::map<std::pair<Dimension, std::uint64_t>, std::string> remembered;
  const std::pair key{amount.dimension, std::bit_cast<std::uint64_t>(amount.value)};
  const auto found = remembered.find(key);
  if (found != remembered.end()) return found->second;
  if (remembered.size() >= most_remembered) remembered.clear();
  return remembered.emplace(key, shortest(amount)).first->second;
}

std::string amount_pattern(std::span<const Dimension> accepted) {
  std::vector<std::string_view> names;
  for (const Dimension dimension : accepted)
    for (const Unit& unit : units_of(dimension).units) names.push_back(unit.name);
  return fmt::format(R"({}({})\s*$)", number_pattern, fmt::join(names, "|"));
}

std::string noun_of(std::span<const Dimension> accepted) {
  constexpr std::string_view count = "a number of ";
  std::string text;
  bool counting = false;
  for (std::size_t i = 0; i < accepted.size(); ++i) {
    std::string_view noun = units_of(accepted[i]).noun;
    const bool is_count = noun.starts_with(count);
    if (is_count && counting) noun.remove_prefix(count.size());
    counting = is_count;
    text += fmt::format("{}{}", i == 0 ? "" : i + 1 == accepted.size() ? " or " : ", ", noun);
  }
  return text;
}

std::vector<std::string> unit_names(std::span<const Dimension> accepted) {
  std::vector<std::string> names;
  for (const Dimension dimension : accepted)
    for (const Unit& unit : units_of(dimension).units)
      if (!unit.synonym) names.emplace_back(unit.name);
  return names;
}

}  // namespace paceline

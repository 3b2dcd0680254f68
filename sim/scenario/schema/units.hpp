// Numbers with units as text: "50 us", "10 Gbit/s", "75 %", "2048 samples".
//
// Models:      value = number · factor(unit), in the base unit of the table (s, B, B/s, 1, one of a count).
// Assumptions: units are case-sensitive: `Mbit/s` and `mbit/s` differ by 10^9. Decimal prefixes are powers of
//              1000, binary ones (Ki, Mi, Gi) of 1024.
// Not modelled: sums of units ("1 min 30 s").
#pragma once

#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

namespace paceline {

struct Unit {
  std::string_view name;
  double numerator;  // factor = numerator / denominator, so that parsing and printing round exactly alike
  double denominator;
  bool synonym = false;  // accepted, never printed
};

struct UnitTable {
  std::string_view noun;     // "a duration"
  std::string_view example;  // "50 us"
  std::span<const Unit> units;
};

[[nodiscard]] const UnitTable& duration_units();
[[nodiscard]] const UnitTable& size_units();
[[nodiscard]] const UnitTable& rate_units();
[[nodiscard]] const UnitTable& percent_units();
[[nodiscard]] const UnitTable& flop_rate_units();

// What is wrong with a value, and what to write instead.
struct Mistake {
  std::string message;
  std::string hint;
};

template <class T>
using Parsed = std::variant<T, Mistake>;

// A finite decimal number that is the whole text ("0.05", "1e-4"); independent of the locale.
[[nodiscard]] std::optional<double> parse_number(std::string_view text);

struct NumberAndUnit {
  double number = 0.0;
  const Unit* unit = nullptr;
};

[[nodiscard]] Parsed<NumberAndUnit> parse_with_unit(std::string_view text, const UnitTable& table);
// The value in base units.
[[nodiscard]] Parsed<double> parse_quantity(std::string_view text, const UnitTable& table);
// The shortest text that parses back to exactly this value.
[[nodiscard]] std::string print_quantity(double value, const UnitTable& table);
// A regular expression for such texts, for the JSON schema.
[[nodiscard]] std::string quantity_pattern(const UnitTable& table);

}  // namespace paceline

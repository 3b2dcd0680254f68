// Numbers with units as people write them: "50 us", "10 Gbit/s", "400 updates".
//
// Models:      number · unit -> amount of one dimension in base units (s, B, B/s, flop/s, fraction, or a
//              count).
// Units:       decimal prefixes are powers of 1000, binary ones (Ki, Mi, Gi) of 1024; 8 bits are a byte.
// Not modelled: sums of units ("1 min 30 s").
#pragma once

#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

namespace paceline {

enum class Dimension {
  time,
  size,
  rate,
  percent,
  operation_rate,
  samples,
  updates,
  epochs,
  iterations,
  price
};

struct Unit {
  std::string_view name;
  double numerator = 1.0;  // factor = numerator / denominator, so that parsing and printing round alike
  double denominator = 1.0;
  bool synonym = false;  // accepted, never printed
};

struct UnitTable {
  std::string_view noun;     // "a duration"
  std::string_view example;  // "50 us"
  std::span<const Unit> units;
  bool whole = false;  // only whole numbers make sense
};

[[nodiscard]] const UnitTable& units_of(Dimension dimension);

struct Amount {
  Dimension dimension = Dimension::time;
  double value = 0.0;  // in base units
  friend bool operator==(const Amount&, const Amount&) = default;
};

// What is wrong with a value, and what to write instead.
struct Mistake {
  std::string message;
  std::string hint;
};

template <class T>
using Parsed = std::variant<T, Mistake>;

// A finite decimal number that is the whole text ("0.05", "1e-4"); independent of the locale.
[[nodiscard]] std::optional<double> parse_number(std::string_view text);

// An amount of one of these dimensions.
[[nodiscard]] Parsed<Amount> parse_amount(std::string_view text, std::span<const Dimension> accepted);
// The shortest text that parses back to exactly this amount.
[[nodiscard]] std::string print_amount(const Amount& amount);
// "epoch" of "epochs"; a unit that is not counted stays.
[[nodiscard]] std::string_view singular(std::string_view unit);
// Regular expressions of the JSON schema: a number, and an amount up to the end of the text.
inline constexpr std::string_view number_pattern = R"(\s*-?([0-9]+\.?[0-9]*|\.[0-9]+)([eE][+-]?[0-9]+)?\s*)";
[[nodiscard]] std::string amount_pattern(std::span<const Dimension> accepted);
// "a duration or a number of updates, epochs"; "ns, us, ms, …"
[[nodiscard]] std::string noun_of(std::span<const Dimension> accepted);
[[nodiscard]] std::vector<std::string> unit_names(std::span<const Dimension> accepted);

}  // namespace paceline

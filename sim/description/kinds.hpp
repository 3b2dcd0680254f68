// The kinds of value a file holds, each with its whole story: what is accepted, how it is printed, and what
// the JSON schema and the reference say about it.
//
// A kind knows nothing of the type of the member that holds the value (description.hpp): between them goes a
// Plain.
#pragma once

#include <cstdint>
#include <filesystem>
#include <functional>
#include <initializer_list>
#include <limits>
#include <optional>
#include <string>
#include <string_view>
#include <type_traits>
#include <utility>
#include <variant>
#include <vector>

#include <nlohmann/json_fwd.hpp>

#include "sim/description/units.hpp"

namespace paceline {

using Json = nlohmann::ordered_json;

// One value as written.
struct Scalar {
  std::string_view text;
  bool quoted = false;
  const std::filesystem::path& folder;  // where relative paths start
};

enum class Comparison { below, at_most, above, at_least };

// "< 10 min"; the bound in base units.
struct Threshold {
  Comparison comparison = Comparison::below;
  double bound = 0.0;
  friend bool operator==(const Threshold&, const Threshold&) = default;
};
[[nodiscard]] bool holds(const Threshold& threshold, double measured);

// A value on its way between text and member. Whole numbers and words with a meaning are integers.
using Plain = std::variant<bool, std::int64_t, double, std::string, Amount, Threshold>;
[[nodiscard]] double number_of(const Plain& value);

// What each of the kinds below makes of its arguments.
struct Kind {
  std::function<Parsed<Plain>(const Scalar&)> parse;
  std::function<std::string(const Plain&)> print;  // a text that parses back to the same value
  std::function<Json()> schema;                    // draft-7
  std::function<std::string()> expectation;        // "a number from 0 to 1", for messages and the reference
};

// Which numbers are accepted.
struct Range {
  double minimum = -std::numeric_limits<double>::infinity();
  double maximum = std::numeric_limits<double>::infinity();
  bool minimum_excluded = false;
  bool maximum_excluded = false;

  [[nodiscard]] bool contains(double value) const;
};

[[nodiscard]] constexpr Range between(double minimum, double maximum) {
  return {minimum, maximum};
}
[[nodiscard]] constexpr Range at_least(double minimum) {
  return {.minimum = minimum};
}
[[nodiscard]] constexpr Range above(double minimum) {
  return {.minimum = minimum, .minimum_excluded = true};
}
[[nodiscard]] constexpr Range above_up_to(double minimum, double maximum) {
  return {.minimum = minimum, .maximum = maximum, .minimum_excluded = true};
}
[[nodiscard]] constexpr Range from_and_below(double minimum, double maximum) {
  return {.minimum = minimum, .maximum = maximum, .maximum_excluded = true};
}

// Free text on one or more lines; anything YAML can hold, kept as data.
struct Text : Kind {
  Text();
};

// A file or folder; a relative path starts at the folder of the file it is written in.
struct Path : Kind {
  Path();
};

// true or false, and no other word.
struct Boolean : Kind {
  Boolean();
};

// A number without a unit.
struct Number : Kind {
  explicit Number(Range range);
};

// A whole number without a unit, in digits.
struct Whole : Kind {
  static constexpr std::int64_t largest = 1LL << 53U;  // beyond it, doubles skip whole numbers
  explicit Whole(std::int64_t minimum, std::int64_t maximum = largest);
};

// A number with a unit of one of several dimensions, each with its range in base units. Prints an Amount; or
// a number or whole number of the first dimension.
struct Measured : Kind {
  struct Accepted {
    Dimension dimension;
    Range range;
  };
  // The hint is for whoever writes a percentage where none is accepted.
  explicit Measured(std::vector<Accepted> accepted, std::string percent_hint = {});
};

[[nodiscard]] Measured duration(Range range);
[[nodiscard]] Measured size(Range range);
[[nodiscard]] Measured rate(Range range);
[[nodiscard]] Measured operation_rate(Range range);
[[nodiscard]] Measured price(Range range);    // of an hour
[[nodiscard]] Measured percent(Range range);  // held as a fraction
// At least 1 of them.
[[nodiscard]] Measured iterations();
[[nodiscard]] Measured updates();
// "2048 samples", "50 updates", "0.25 epochs"
[[nodiscard]] Measured how_many();

// "< 10 min", ">= 0.7". A text that begins with `>` stands in quotes, because YAML folds lines after a bare
// one; printed as it could stand in a file, quotes included.
struct ThresholdText : Kind {
  ThresholdText(std::optional<Dimension> dimension, Range bound, std::string example);

  bool has_unit;
  std::function<std::string(const Threshold&)> plain;  // as a person reads it
};

// One of a few words, each with what it means: an enumerator, or the word itself.
struct Choice : Kind {
  struct Word {
    template <class Meaning>
    requires std::is_enum_v<Meaning> Word(std::string_view word, Meaning value)
        : text(word), meaning(static_cast<std::int64_t>(value)) {}
    Word(std::string_view word) : text(word), meaning(text) {}
    Word(const char* word) : Word(std::string_view(word)) {}
    std::string text;
    Plain meaning;
  };
  Choice(std::initializer_list<Word> words) : Choice(std::vector<Word>(words)) {}
  explicit Choice(std::vector<Word> words);
};

}  // namespace paceline

// The kinds of value a scenario holds, each with its whole story: how it is written, what is accepted, how it
// is printed, and what the JSON schema says about it.
//
// A kind K has a type K::Value and
//   Parsed<Value> parse(const Scalar&)    what the text means, or what is wrong with it
//   std::string   print(const Value&)     a text that parses back to the same value
//   Json          schema()                draft-7
//   std::string   expectation()           "a number from 0 to 1", for messages
#pragma once

#include <algorithm>
#include <cstdint>
#include <filesystem>
#include <limits>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "sim/base/check.hpp"
#include "sim/base/diagnostic.hpp"
#include "sim/base/quantity.hpp"
#include "sim/scenario/scenario.hpp"
#include "sim/scenario/schema/units.hpp"

namespace paceline {

using Json = nlohmann::ordered_json;

// One value as written.
struct Scalar {
  std::string_view text;
  bool quoted = false;
  const std::filesystem::path& folder;  // where relative paths start
};

// Which numbers are accepted.
struct Range {
  double minimum = -std::numeric_limits<double>::infinity();
  double maximum = std::numeric_limits<double>::infinity();
  bool minimum_excluded = false;
  bool maximum_excluded = false;

  [[nodiscard]] bool contains(double value) const;
  // "from 0 to 1", "above 0 and below 1", with the bounds printed by `print`.
  template <class Print>
  [[nodiscard]] std::string text(const Print& print) const {
    constexpr double none = std::numeric_limits<double>::infinity();
    const bool low = minimum > -none;
    const bool high = maximum < none;
    if (low && high && !minimum_excluded && !maximum_excluded)
      return fmt::format("from {} to {}", print(minimum), print(maximum));
    std::string words;
    if (low) words = fmt::format("{} {}", minimum_excluded ? "above" : "at least", print(minimum));
    if (high)
      words +=
          fmt::format("{}{} {}", low ? " and " : "", maximum_excluded ? "below" : "at most", print(maximum));
    return words;
  }
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

// Free text on one or more lines; anything YAML can hold, kept as data.
struct Text {
  using Value = std::string;
  [[nodiscard]] Parsed<Value> parse(const Scalar& scalar) const;
  [[nodiscard]] std::string print(const Value& value) const;
  [[nodiscard]] Json schema() const;
  [[nodiscard]] std::string expectation() const { return "a text"; }
};

// A file or folder; a relative path starts at the folder of the file it is written in.
struct Path {
  using Value = std::filesystem::path;
  [[nodiscard]] Parsed<Value> parse(const Scalar& scalar) const;
  [[nodiscard]] std::string print(const Value& value) const;
  [[nodiscard]] Json schema() const;
  [[nodiscard]] std::string expectation() const { return "a path"; }
};

// true or false, and no other word.
struct Boolean {
  using Value = bool;
  [[nodiscard]] Parsed<Value> parse(const Scalar& scalar) const;
  [[nodiscard]] std::string print(Value value) const { return value ? "true" : "false"; }
  [[nodiscard]] Json schema() const { return {{"type", "boolean"}}; }
  [[nodiscard]] std::string expectation() const { return "`true` or `false`"; }
};

// A number without a unit.
struct Number {
  using Value = double;
  Range range;
  [[nodiscard]] Parsed<Value> parse(const Scalar& scalar) const;
  [[nodiscard]] std::string print(Value value) const { return fmt::format("{}", value); }
  [[nodiscard]] Json schema() const;
  [[nodiscard]] std::string expectation() const;
};

// The rules of whole numbers, for every integer type.
struct WholeNumber {
  std::int64_t minimum;
  std::int64_t maximum;
  [[nodiscard]] Parsed<std::int64_t> parse(const Scalar& scalar) const;
  [[nodiscard]] Json schema() const;
  [[nodiscard]] std::string expectation() const;
};

// A whole number without a unit, in digits.
template <class Integer>
struct Whole {
  using Value = Integer;
  Integer minimum;
  Integer maximum =
      static_cast<Integer>(std::min<std::uint64_t>(std::numeric_limits<Integer>::max(), 1ULL << 53U));

  [[nodiscard]] Parsed<Value> parse(const Scalar& scalar) const {
    const Parsed<std::int64_t> parsed = rules().parse(scalar);
    if (const auto* mistake = std::get_if<Mistake>(&parsed)) return *mistake;
    return static_cast<Integer>(std::get<std::int64_t>(parsed));
  }
  [[nodiscard]] std::string print(Value value) const { return fmt::format("{}", value); }
  [[nodiscard]] Json schema() const { return rules().schema(); }
  [[nodiscard]] std::string expectation() const { return rules().expectation(); }

 private:
  [[nodiscard]] WholeNumber rules() const {
    return {static_cast<std::int64_t>(minimum), static_cast<std::int64_t>(maximum)};
  }
};

// A number with a unit, held in base units.
struct QuantityText {
  const UnitTable& table;
  Range range;  // in base units
  [[nodiscard]] Parsed<double> parse(const Scalar& scalar) const;
  [[nodiscard]] Json schema() const;
  [[nodiscard]] std::string expectation() const;
};

template <class Held>  // Seconds, Bytes, BytesPerSecond, or double for a fraction
struct Measured {
  using Value = Held;
  QuantityText rules;

  [[nodiscard]] Parsed<Value> parse(const Scalar& scalar) const {
    const Parsed<double> parsed = rules.parse(scalar);
    if (const auto* mistake = std::get_if<Mistake>(&parsed)) return *mistake;
    return Held{std::get<double>(parsed)};
  }
  [[nodiscard]] std::string print(const Value& value) const {
    if constexpr (std::is_same_v<Held, double>) {
      return print_quantity(value, rules.table);
    } else {
      return print_quantity(value.value(), rules.table);
    }
  }
  [[nodiscard]] Json schema() const { return rules.schema(); }
  [[nodiscard]] std::string expectation() const { return rules.expectation(); }
};

[[nodiscard]] inline Measured<Seconds> duration(Range range) {
  return {{duration_units(), range}};
}
[[nodiscard]] inline Measured<Bytes> size(Range range) {
  return {{size_units(), range}};
}
[[nodiscard]] inline Measured<BytesPerSecond> rate(Range range) {
  return {{rate_units(), range}};
}
[[nodiscard]] inline Measured<double> flop_rate(Range range) {
  return {{flop_rate_units(), range}};
}
// Written in percent, held as a fraction.
[[nodiscard]] inline Measured<double> percent(Range range) {
  return {{percent_units(), range}};
}

// A point of a learning-rate schedule, written as its basis asks: epochs `7.5`, progress `50 %`, step `32000`.
struct SchedulePoint {
  using Value = double;
  ScheduleBasis basis;
  [[nodiscard]] Parsed<Value> parse(const Scalar& scalar) const;
  [[nodiscard]] std::string print(Value value) const;
  [[nodiscard]] static Json schema();  // of every basis: the basis is another key
  [[nodiscard]] std::string expectation() const;
};

// "2048 samples", "50 updates", "0.25 epochs": how often something happens.
struct HowMany {
  using Value = Count;
  [[nodiscard]] Parsed<Value> parse(const Scalar& scalar) const;
  [[nodiscard]] std::string print(const Value& value) const;
  [[nodiscard]] Json schema() const;
  [[nodiscard]] std::string expectation() const;
};

// A whole number of one thing, at least 1.
struct WholeCount {
  using Value = std::int64_t;
  const UnitTable& table;
  [[nodiscard]] Parsed<Value> parse(const Scalar& scalar) const;
  [[nodiscard]] std::string print(Value value) const;
  [[nodiscard]] Json schema() const;
  [[nodiscard]] std::string expectation() const;
};
// "10 iterations"
struct Iterations : WholeCount {
  Iterations();
};
// "50 updates"
struct Updates : WholeCount {
  Updates();
};

// "10 iterations", "1 epochs": how often batches are adjusted.
struct Period {
  using Value = AdjustmentPeriod;
  [[nodiscard]] Parsed<Value> parse(const Scalar& scalar) const;
  [[nodiscard]] std::string print(const Value& value) const;
  [[nodiscard]] Json schema() const;
  [[nodiscard]] std::string expectation() const;
};

// What to say about a word that is none of those accepted.
[[nodiscard]] Mistake not_a_choice(std::string_view word, const std::vector<std::string>& accepted);

// One of a few words.
template <class Meaning>
struct Choice {
  using Value = Meaning;
  std::vector<std::pair<std::string, Meaning>> choices;

  [[nodiscard]] Parsed<Value> parse(const Scalar& scalar) const {
    for (const auto& [word, meaning] : choices)
      if (word == scalar.text) return meaning;
    return not_a_choice(scalar.text, words());
  }
  [[nodiscard]] std::string print(const Value& value) const {
    for (const auto& [word, meaning] : choices)
      if (meaning == value) return word;
    check(false, "a value that has no word in its choice");
    return {};
  }
  [[nodiscard]] Json schema() const { return {{"enum", words()}}; }
  [[nodiscard]] std::string expectation() const { return fmt::format("one of {}", fmt::join(words(), ", ")); }

 private:
  [[nodiscard]] std::vector<std::string> words() const {
    std::vector<std::string> all;
    for (const auto& choice : choices) all.push_back(choice.first);
    return all;
  }
};

// A map with keys of its own: the member's type has a `describe`.
struct Section {};

// A map from key paths to any value, kept as written (the `set` of a study's variant).
struct KeyPathValues {};

// Any value, kept as written (what a study varies).
struct AnyValue {
  [[nodiscard]] static Json schema() { return Json::object(); }
  [[nodiscard]] static std::string expectation() { return "a value"; }
};

template <class Kind>
struct ListOf {
  Kind kind;
  std::string_view noun;  // of one item: "worker"
  std::size_t minimum_items = 0;
  std::size_t maximum_items = std::numeric_limits<std::size_t>::max();
};

}  // namespace paceline

// The kinds of value a file holds, each with its whole story: what is accepted, how it is printed, and what
// the JSON schema and the reference say about it.
//
// A kind knows nothing of the type of the member that holds the value (description.hpp): between them goes a
// Plain.
#pragma once

#include <cstdint>
#include <filesystem>
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

class Kind {
 public:
  virtual ~Kind() = default;
  [[nodiscard]] virtual Parsed<Plain> parse(const Scalar& scalar) const = 0;
  // A text that parses back to the same value.
  [[nodiscard]] virtual std::string print(const Plain& value) const = 0;
  [[nodiscard]] virtual Json schema() const = 0;  // draft-7
  // "a number from 0 to 1", for messages and the reference.
  [[nodiscard]] virtual std::string expectation() const = 0;
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
class Text final : public Kind {
 public:
  [[nodiscard]] Parsed<Plain> parse(const Scalar& scalar) const override;
  [[nodiscard]] std::string print(const Plain& value) const override;
  [[nodiscard]] Json schema() const override;
  [[nodiscard]] std::string expectation() const override { return "a text"; }
};

// A file or folder; a relative path starts at the folder of the file it is written in.
class Path final : public Kind {
 public:
  [[nodiscard]] Parsed<Plain> parse(const Scalar& scalar) const override;
  [[nodiscard]] std::string print(const Plain& value) const override;
  [[nodiscard]] Json schema() const override;
  [[nodiscard]] std::string expectation() const override { return "a path"; }
};

// true or false, and no other word.
class Boolean final : public Kind {
 public:
  [[nodiscard]] Parsed<Plain> parse(const Scalar& scalar) const override;
  [[nodiscard]] std::string print(const Plain& value) const override;
  [[nodiscard]] Json schema() const override;
  [[nodiscard]] std::string expectation() const override { return "`true` or `false`"; }
};

// A number without a unit.
class Number final : public Kind {
 public:
  explicit Number(Range range) : range_(range) {}
  [[nodiscard]] Parsed<Plain> parse(const Scalar& scalar) const override;
  [[nodiscard]] std::string print(const Plain& value) const override;
  [[nodiscard]] Json schema() const override;
  [[nodiscard]] std::string expectation() const override;

 private:
  Range range_;
};

// A whole number without a unit, in digits.
class Whole final : public Kind {
 public:
  static constexpr std::int64_t largest = 1LL << 53U;  // beyond it, doubles skip whole numbers
  explicit Whole(std::int64_t minimum, std::int64_t maximum = largest)
      : minimum_(minimum), maximum_(maximum) {}
  [[nodiscard]] Parsed<Plain> parse(const Scalar& scalar) const override;
  [[nodiscard]] std::string print(const Plain& value) const override;
  [[nodiscard]] Json schema() const override;
  [[nodiscard]] std::string expectation() const override;

 private:
  std::int64_t minimum_;
  std::int64_t maximum_;
};

// A number with a unit of one of several dimensions, each with its range in base units.
class Measured final : public Kind {
 public:
  struct Accepted {
    Dimension dimension;
    Range range;
  };
  explicit Measured(std::vector<Accepted> accepted, std::string percent_hint = {});
  [[nodiscard]] Parsed<Plain> parse(const Scalar& scalar) const override;
  // Of an Amount; or of a number or whole number of the first dimension.
  [[nodiscard]] std::string print(const Plain& value) const override;
  [[nodiscard]] Json schema() const override;
  [[nodiscard]] std::string expectation() const override;

 private:
  std::vector<Accepted> accepted_;
  std::vector<Dimension> dimensions_;
  std::string percent_hint_;  // for whoever writes a percentage where none is accepted
};

[[nodiscard]] Measured duration(Range range);
[[nodiscard]] Measured size(Range range);
[[nodiscard]] Measured rate(Range range);
[[nodiscard]] Measured operation_rate(Range range);
[[nodiscard]] Measured percent(Range range);  // held as a fraction
// At least 1 of them.
[[nodiscard]] Measured iterations();
[[nodiscard]] Measured updates();
// "2048 samples", "50 updates", "0.25 epochs"
[[nodiscard]] Measured how_many();

// "< 10 min", ">= 0.7". A text that begins with `>` stands in quotes, because YAML folds lines after a bare
// one.
class ThresholdText final : public Kind {
 public:
  ThresholdText(Range bound, std::string_view example) : bound_(bound), example_(example) {}
  ThresholdText(Dimension dimension, Range bound, std::string_view example)
      : dimension_(dimension), bound_(bound), example_(example) {}
  [[nodiscard]] Parsed<Plain> parse(const Scalar& scalar) const override;
  // As it could be written in a file, quotes included.
  [[nodiscard]] std::string print(const Plain& value) const override;
  // As a person reads it.
  [[nodiscard]] std::string plain(const Threshold& value) const;
  [[nodiscard]] Json schema() const override;
  [[nodiscard]] std::string expectation() const override;
  [[nodiscard]] bool has_unit() const { return dimension_.has_value(); }

 private:
  std::optional<Dimension> dimension_;
  Range bound_;
  std::string_view example_;
};

// One of a few words, each with what it means: an enumerator, or the word itself.
class Choice final : public Kind {
 public:
  struct Word {
    template <class Meaning>
    requires std::is_enum_v<Meaning> Word(std::string_view word, Meaning value)
        : text(word), meaning(static_cast<std::int64_t>(value)) {}
    Word(std::string_view word) : text(word), meaning(text) {}
    Word(const char* word) : Word(std::string_view(word)) {}
    std::string text;
    Plain meaning;
  };
  Choice(std::initializer_list<Word> words) : words_(words) {}
  explicit Choice(std::vector<Word> words) : words_(std::move(words)) {}
  [[nodiscard]] Parsed<Plain> parse(const Scalar& scalar) const override;
  [[nodiscard]] std::string print(const Plain& value) const override;
  [[nodiscard]] Json schema() const override;
  [[nodiscard]] std::string expectation() const override;

 private:
  [[nodiscard]] std::vector<std::string> texts() const;
  std::vector<Word> words_;
};

}  // namespace paceline

// What is expected of a result, as text: "< 10 min", ">= 0.7".
//
// Models:      measured `comparison` bound.
// Units:       as the result's: a unit table (then the text carries a unit) or a plain number.
// Assumptions: a text that begins with `>` stands in quotes, because YAML folds lines after a bare one.
// Not modelled: several bounds in one text.
#pragma once

#include <string>

#include "sim/scenario/scenario.hpp"
#include "sim/scenario/schema/value_kinds.hpp"

namespace paceline {

[[nodiscard]] bool holds(const Threshold& threshold, double measured);

// A kind of value (value_kinds.hpp).
struct ThresholdText {
  using Value = Threshold;
  const UnitTable* units;  // nullptr: a plain number
  Range range;             // of the bound
  std::string_view example;

  [[nodiscard]] Parsed<Threshold> parse(const Scalar& scalar) const;
  // As it could be written in a file, quotes included.
  [[nodiscard]] std::string print(const Threshold& value) const;
  // As a person reads it.
  [[nodiscard]] std::string plain(const Threshold& value) const;
  [[nodiscard]] Json schema() const;
  [[nodiscard]] std::string expectation() const;
};

}  // namespace paceline

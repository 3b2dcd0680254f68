// Kinds of value that say when, how long or how often something happens, in one of several units. What a kind is:
// value_kinds.hpp.
#pragma once

#include <optional>
#include <string>

#include "sim/cluster/conditions.hpp"
#include "sim/policy/synchronization/phase.hpp"
#include "sim/scenario/schema/value_kinds.hpp"

namespace paceline {

// "100 s", "5 epochs", "30 %" of the workload: when something happens.
struct When {
  using Value = Moment;
  [[nodiscard]] Parsed<Value> parse(const Scalar& scalar) const;
  [[nodiscard]] std::string print(const Value& value) const;
  [[nodiscard]] Json schema() const;
  [[nodiscard]] std::string expectation() const;
};

// "400 updates", "5 epochs", "10 min": how long a phase is.
struct Length {
  using Value = PhaseLength;
  [[nodiscard]] Parsed<Value> parse(const Scalar& scalar) const;
  [[nodiscard]] std::string print(const Value& value) const;
  [[nodiscard]] Json schema() const;
  [[nodiscard]] std::string expectation() const;
};

// "600 s", or a HowMany: how often something happens.
struct HowOften {
  using Value = Often;
  [[nodiscard]] Parsed<Value> parse(const Scalar& scalar) const;
  [[nodiscard]] std::string print(const Value& value) const;
  [[nodiscard]] Json schema() const;
  [[nodiscard]] std::string expectation() const;
};

}  // namespace paceline

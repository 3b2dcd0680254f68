// The section `expect`: thresholds that turn a scenario into a test.
#pragma once

#include "sim/scenario/scenario.hpp"
#include "sim/scenario/schema/threshold.hpp"
#include "sim/scenario/schema/value_kinds.hpp"
#include "sim/scenario/sections/terms.hpp"

namespace paceline {

// Whoever prints a threshold needs its kind too.
inline const ThresholdText expected_duration{&duration_units(), above(0), "< 10 min"};
inline const ThresholdText expected_fraction{nullptr, between(0, 1), "> 0.9"};
inline const ThresholdText expected_rate{nullptr, above(0), "> 100"};
inline const ThresholdText expected_staleness{nullptr, at_least(0), "< 8"};

template <class Visitor>
void describe(Visitor& v, ExpectConfig& c) {
  constexpr Absent nothing{"anything"};
  v.optional("time_to_accuracy", c.time_to_accuracy, expected_duration,
             "median over the replications; one that never reaches the target counts as slowest", nothing);
  v.optional("p_reach", c.p_reach, expected_fraction,
             "probability that a run reaches the target: (k + 1/2) / (n + 1) of k of n replications",
             nothing);
  v.optional("time_per_epoch", c.time_per_epoch, expected_duration, "median over the replications", nothing);
  v.optional("final_accuracy", c.final_accuracy, expected_fraction,
             "of the last evaluation, median over the replications", nothing);
  v.optional("samples_per_s", c.samples_per_s, expected_rate, "applied, median over the replications",
             nothing);
  v.optional("staleness", c.staleness, expected_staleness,
             "mean over a run's gradients, median over the replications", nothing);
}

}  // namespace paceline

// Whether what a scenario expects of its results held.
//
// Models:      `expect` of a scenario: each threshold against the median over the replications.
// Equation:    time to accuracy: never is infinitely slow; P(reach): its estimate (time_to_accuracy.hpp);
//              time per epoch = end time · samples of the training set / samples applied; infinite when none
//              was. Median of an even number: the mean of the middle two.
// Units:       seconds, fractions of 1, samples/s, updates.
// Assumptions: the scenario's semantic checks passed: a target or a learner is there where one is needed.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "sim/report/statistics/run_summary.hpp"
#include "sim/scenario/reader.hpp"

namespace paceline {

struct ExpectationOutcome {
  std::string key;              // "time_per_epoch"
  std::string origin;           // where it was written
  std::string expected;         // "< 10 min"
  std::string measured;         // "12.5 min", "never"
  std::optional<double> value;  // measured, in base units; absent: infinite, or nothing was measured
  bool held = false;
};

// `runs` is not empty.
[[nodiscard]] std::vector<ExpectationOutcome> evaluate_expectations(const LoadedScenario& loaded,
                                                                    const std::vector<RunSummary>& runs);

// "NAME: time_per_epoch is 12.5 min, expected < 10 min (file:line:column)"
[[nodiscard]] std::string failure_text(const std::string& scenario_name, const ExpectationOutcome& outcome);

}  // namespace paceline

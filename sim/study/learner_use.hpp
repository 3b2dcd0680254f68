// What a scenario asks of a statistical learner, and notes where that leaves the runs it was fitted on.
#pragma once

#include <string>
#include <vector>

#include "sim/learning/statistical_model.hpp"
#include "sim/report/recording/run_result.hpp"
#include "sim/scenario/scenario.hpp"

namespace paceline {

[[nodiscard]] bool uses_model(const Scenario& scenario);

// The largest rate of a phase over the largest the learner was fitted on: what it knows of a rate is how fast
// it learns, not from which one on training breaks down.
[[nodiscard]] double learning_rate_beyond(const Scenario& scenario, const StatisticalModel& model);
inline constexpr double most_learning_rate_beyond = 4.0;

// Before the first run, from the scenario alone: an asynchronous gradient is expected to meet the updates of
// all other workers.
[[nodiscard]] std::vector<std::string> learner_notes(const Scenario& scenario, const StatisticalModel& model);

// After the runs: gradients whose staleness was beyond what the learner was fitted on, if there were any.
[[nodiscard]] std::vector<std::string> staleness_notes(const Scenario& scenario,
                                                       const StatisticalModel& model,
                                                       const std::vector<RunResult>& runs);

}  // namespace paceline

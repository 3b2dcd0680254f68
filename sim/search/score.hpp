// What a search minimizes, and subject to what.
//
// Models:      one number for the outcome of a setting: smaller is better.
// Equation:    time-to-accuracy: restricted mean of the time to the target, a run that never reaches it counting
//              `never_factor` times its own end time; core-hours: mean of the whole job's; money = price · core-hours.
//              A setting whose mean final accuracy is below the required one, or that has a run without any where one is
//              required, is infeasible: its score is absent and worse than every number.
// Units:       seconds, core-hours, units of the price.
// Assumptions: a mean is wanted, since the same job is run again and again; a median would not see rare failures.
// Not modelled: risk aversion.
// Source:      design section 5 (a run that never reaches counts as slower).
#pragma once

#include <optional>

#include "sim/search/setting.hpp"

namespace paceline::search {

enum class Minimized { time_to_accuracy, core_hours, money };

struct Objective {
  Minimized minimized = Minimized::time_to_accuracy;
  std::optional<double> accuracy_min = {};  // of the mean final accuracy
  double price_per_core_hour = 0.0;
};

// A run that never reached its target counts as so many times its whole length.
inline constexpr double never_factor = 2.0;

// Of the first `replications` runs. Absent: infeasible.
[[nodiscard]] std::optional<double> score(const Outcome& outcome, std::size_t replications,
                                          const Objective& objective);
[[nodiscard]] std::optional<double> score(const Outcome& outcome, const Objective& objective);

// Whether `a` is better than `b`; absent is worse than every number.
[[nodiscard]] bool is_better(const std::optional<double>& a, const std::optional<double>& b);

}  // namespace paceline::search

// What a search minimizes, and subject to what.
//
// Models:      a score for the outcome of a setting: smaller is better.
// Equation:    time-to-accuracy: first the share of the runs that never reach the target, then the mean over
//              the runs of the time to it (of the end, where it is never reached): never is slower than any
//              time, however short the job; core-hours: mean of the whole job's; money = price · core-hours.
//              A setting whose mean final accuracy is below the required one, or that has a run without any
//              where one is required, is infeasible: its score is absent and worse than every number.
// Units:       seconds, core-hours, units of the price.
// Assumptions: a mean is wanted, since the same job is run again and again; a median would not see rare
//              failures.
// Not modelled: risk aversion.
#pragma once

#include <compare>
#include <optional>

#include "sim/study/search/setting.hpp"

namespace paceline::search {

enum class Minimized { time_to_accuracy, core_hours, money };

struct Objective {
  Minimized minimized = Minimized::time_to_accuracy;
  std::optional<double> accuracy_min = {};  // of the mean final accuracy
  double price_per_core_hour = 0.0;
};

// Compared in this order.
struct Score {
  double never_share = 0.0;
  double value = 0.0;
  friend auto operator<=>(const Score&, const Score&) = default;
};

// Of the first `replications` runs. Absent: infeasible.
[[nodiscard]] std::optional<Score> score(const Outcome& outcome, std::size_t replications,
                                         const Objective& objective);
[[nodiscard]] std::optional<Score> score(const Outcome& outcome, const Objective& objective);

// Whether `a` is better than `b`; absent is worse than every score.
[[nodiscard]] bool is_better(const std::optional<Score>& a, const std::optional<Score>& b);

}  // namespace paceline::search

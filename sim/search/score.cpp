#include "sim/search/score.hpp"

#include "sim/base/check.hpp"

namespace paceline::search {
namespace {

bool is_accurate_enough(const Outcome& outcome, std::size_t replications, double accuracy_min) {
  double sum = 0.0;
  for (std::size_t r = 0; r < replications; ++r) {
    if (!outcome[r].final_accuracy) return false;
    sum += *outcome[r].final_accuracy;
  }
  return sum >= accuracy_min * static_cast<double>(replications);
}

double minimized(const RunOutcome& run, const Objective& objective) {
  switch (objective.minimized) {
    case Minimized::core_hours:
      return run.core_hours;
    case Minimized::money:
      return objective.price_per_core_hour * run.core_hours;
    case Minimized::time_to_accuracy:
      break;
  }
  return run.time_to_target_s.value_or(never_factor * run.end_time_s);
}

}  // namespace

std::optional<double> score(const Outcome& outcome, std::size_t replications, const Objective& objective) {
  check(replications > 0 && replications <= outcome.size(), "a score needs runs");
  if (objective.accuracy_min && !is_accurate_enough(outcome, replications, *objective.accuracy_min))
    return std::nullopt;
  double sum = 0.0;
  for (std::size_t r = 0; r < replications; ++r) sum += minimized(outcome[r], objective);
  return sum / static_cast<double>(replications);
}

std::optional<double> score(const Outcome& outcome, const Objective& objective) {
  return score(outcome, outcome.size(), objective);
}

bool is_better(const std::optional<double>& a, const std::optional<double>& b) {
  if (!a || !b) return a.has_value();
  return *a < *b;
}

}  // namespace paceline::search

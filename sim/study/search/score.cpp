#include "sim/study/search/score.hpp"

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

Score score_of(const RunOutcome& run, const Objective& objective) {
  switch (objective.minimized) {
    case Minimized::core_hours:
      return {0.0, run.core_hours};
    case Minimized::money:
      return {0.0, objective.price_per_core_hour * run.core_hours};
    case Minimized::time_to_accuracy:
      break;
  }
  return {run.time_to_target_s ? 0.0 : 1.0, run.time_to_target_s.value_or(run.end_time_s)};
}

}  // namespace

std::optional<Score> score(const Outcome& outcome, std::size_t replications, const Objective& objective) {
  check(replications > 0 && replications <= outcome.size(), "a score needs runs");
  if (objective.accuracy_min && !is_accurate_enough(outcome, replications, *objective.accuracy_min))
    return std::nullopt;
  Score mean;
  const auto count = static_cast<double>(replications);
  for (std::size_t r = 0; r < replications; ++r) {
    const Score of_run = score_of(outcome[r], objective);
    mean.never_share += of_run.never_share;
    mean.value += of_run.value;
  }
  return Score{mean.never_share / count, mean.value / count};
}

std::optional<Score> score(const Outcome& outcome, const Objective& objective) {
  return score(outcome, outcome.size(), objective);
}

bool is_better(const std::optional<Score>& a, const std::optional<Score>& b) {
  if (!a || !b) return a.has_value();
  return *a < *b;
}

}  // namespace paceline::search

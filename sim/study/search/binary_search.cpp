#include "sim/study/search/binary_search.hpp"

#include <algorithm>
#include <cmath>
#include <span>

#include "sim/base/check.hpp"

namespace paceline::search {
namespace {

// A run that diverged before its first evaluation has learned nothing.
double accuracy_of(const RunSummary& run) {
  return run.final_accuracy.value_or(0.0);
}

bool is_within(double accuracy, double target, const TimingRules& rules) {
  const double missing = target - accuracy;
  return rules.sides == Sides::two ? std::abs(missing) <= rules.tolerance : missing <= rules.tolerance;
}

TriedShare try_share(double share, const TimingRules& rules, Trials& trials) {
  const auto runs =
      std::span(trials.of(share, rules.replications)).first(static_cast<std::size_t>(rules.replications));
  TriedShare tried{.share = share};
  for (const RunSummary& run : runs) {
    tried.mean_accuracy += accuracy_of(run) / rules.replications;
    tried.mean_time_s += run.end_time.value() / rules.replications;
  }
  double squares = 0.0;
  for (const RunSummary& run : runs) squares += std::pow(accuracy_of(run) - tried.mean_accuracy, 2);
  if (rules.replications > 1) tried.accuracy_deviation = std::sqrt(squares / (rules.replications - 1));
  return tried;
}

FreshRuns run_again(double share, double target, const TimingRules& rules, Trials& trials) {
  const Outcome& runs = trials.of(share, rules.replications + rules.fresh_replications);
  FreshRuns fresh{.share = share, .runs = rules.fresh_replications};
  for (auto run = runs.begin() + rules.replications; run != runs.end(); ++run) {
    if (is_within(accuracy_of(*run), target, rules)) ++fresh.within_tolerance;
    fresh.mean_accuracy += accuracy_of(*run) / fresh.runs;
    fresh.mean_time_s += run->end_time.value() / fresh.runs;
  }
  fresh.is_good = is_within(fresh.mean_accuracy, target, rules);
  return fresh;
}

std::optional<double> next_lower(const std::vector<TriedShare>& tried, double chosen) {
  std::optional<double> next;
  for (const TriedShare& share : tried)
    if (share.share < chosen) next = std::max(next.value_or(0.0), share.share);
  return next;
}

std::optional<double> jobs_to_pay_off(const TimingChoice& choice) {
  double chosen_s = choice.all_synchronous.mean_time_s;
  for (const TriedShare& share : choice.tried)
    if (share.share == choice.chosen) chosen_s = share.mean_time_s;
  const double saved_s = choice.all_synchronous.mean_time_s - chosen_s;
  if (saved_s <= 0.0) return std::nullopt;
  return std::ceil(choice.cost.simulated_s / saved_s);
}

}  // namespace

std::optional<FreshRuns> contradiction(const TimingChoice& choice) {
  for (const FreshRuns& fresh : choice.fresh)
    if (fresh.is_good != (fresh.share == choice.chosen)) return fresh;
  return std::nullopt;
}

TimingResult binary_search(const TimingRules& rules, Trials& trials) {
  check(rules.replications > 0 && rules.settings > 0 && rules.tolerance > 0.0, "a search tries something");
  TimingChoice choice;
  choice.all_synchronous = try_share(1.0, rules, trials);
  choice.target_accuracy = rules.target_accuracy.value_or(choice.all_synchronous.mean_accuracy);
  choice.all_synchronous.is_good = true;
  if (!is_within(choice.all_synchronous.mean_accuracy, choice.target_accuracy, rules))
    return {std::nullopt, TargetOutOfReach{choice.target_accuracy, choice.all_synchronous.mean_accuracy}};
  double lower = 0.0;
  double upper = 1.0;
  for (int i = 0; i < rules.settings; ++i) {
    TriedShare tried = try_share((lower + upper) / 2.0, rules, trials);
    tried.is_good = is_within(tried.mean_accuracy, choice.target_accuracy, rules);
    (tried.is_good ? upper : lower) = tried.share;
    choice.tried.push_back(tried);
  }
  choice.chosen = upper;
  choice.cost = trials.cost();
  choice.jobs_to_pay_off = jobs_to_pay_off(choice);
  if (rules.fresh_replications == 0) return {std::move(choice), std::nullopt};
  choice.fresh.push_back(run_again(upper, choice.target_accuracy, rules, trials));
  if (const std::optional<double> lower_share = next_lower(choice.tried, upper))
    choice.fresh.push_back(run_again(*lower_share, choice.target_accuracy, rules, trials));
  return {std::move(choice), std::nullopt};
}

}  // namespace paceline::search

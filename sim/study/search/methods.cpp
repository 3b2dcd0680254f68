#include "sim/study/search/methods.hpp"

#include <algorithm>
#include <cmath>
#include <numbers>

#include "sim/base/check.hpp"

namespace paceline::search {
namespace {

Score score_of(const RunSummary& run, const SearchConfig& config) {
  switch (config.minimize) {
    case SearchObjective::core_hours:
      return {0.0, run.core_hours};
    case SearchObjective::money:
      return {0.0, config.price_per_core_hour.value_or(0.0) * run.core_hours};
    case SearchObjective::time_to_accuracy:
      break;
  }
  return {run.time_to_accuracy ? 0.0 : 1.0, run.time_to_accuracy.value_or(run.end_time).value()};
}

}  // namespace

const Outcome& Trials::of(double setting, int replications) {
  check(replications > 0, "a setting is tried at least once");
  const auto [entry, is_new] = index_of_.try_emplace(setting, tried_.size());
  if (is_new) tried_.push_back({setting, {}});
  Tried& tried = tried_[entry->second];
  if (tried.runs.size() < static_cast<std::size_t>(replications)) {
    tried.runs = evaluate_(setting, replications);
    check(tried.runs.size() == static_cast<std::size_t>(replications), "every replication has an outcome");
  }
  return tried.runs;
}

SearchCost Trials::cost() const {
  SearchCost cost{.settings = tried_.size()};
  for (const Tried& tried : tried_) {
    cost.runs += tried.runs.size();
    for (const RunSummary& run : tried.runs) {
      cost.simulated_s += run.end_time.value();
      cost.simulated_core_hours += run.core_hours;
    }
  }
  return cost;
}

std::optional<Score> score(const Outcome& outcome, const SearchConfig& config,
                           std::optional<int> replications) {
  const auto runs = static_cast<std::size_t>(replications.value_or(static_cast<int>(outcome.size())));
  check(runs > 0 && runs <= outcome.size(), "a score needs runs");
  Score sum;
  double accuracy = 0.0;
  for (std::size_t r = 0; r < runs; ++r) {
    if (config.accuracy && !outcome[r].final_accuracy) return std::nullopt;
    accuracy += outcome[r].final_accuracy.value_or(0.0);
    const Score of_run = score_of(outcome[r], config);
    sum.never_share += of_run.never_share;
    sum.value += of_run.value;
  }
  const auto count = static_cast<double>(runs);
  if (config.accuracy && accuracy < *config.accuracy * count) return std::nullopt;
  return Score{sum.never_share / count, sum.value / count};
}

bool is_better(const std::optional<Score>& a, const std::optional<Score>& b) {
  if (!a || !b) return a.has_value();
  return *a < *b;
}

Found exhaustive(const std::vector<double>& settings, const SearchConfig& config, Trials& trials) {
  check(!settings.empty(), "a search needs settings");
  Found best;
  for (const double setting : settings) {
    const std::optional<Score> here = score(trials.of(setting, config.replications), config);
    if (is_better(here, best.score)) best = {setting, here};
  }
  return best;
}

Found golden_section(const AxisRange& range, const SearchConfig& config, Trials& trials) {
  constexpr double default_share = 0.01;
  const double tolerance = config.tolerance.value_or(default_share * (range.to - range.from));
  check(range.from < range.to && tolerance > 0.0, "a line has a length and a tolerance");
  constexpr double shrink = std::numbers::phi - 1.0;
  Found best;
  const auto evaluate = [&](double wanted) {
    const double setting = range.whole ? std::round(wanted) : wanted;
    const std::optional<Score> here = score(trials.of(setting, config.replications), config);
    if (is_better(here, best.score)) best = {setting, here};
    return here;
  };
  // The lowest point may be an end, which the interior points never reach.
  evaluate(range.from);
  evaluate(range.to);
  double low = range.from;
  double high = range.to;
  double left = high - shrink * (high - low);
  double right = low + shrink * (high - low);
  std::optional<Score> at_left = evaluate(left);
  std::optional<Score> at_right = evaluate(right);
  while (high - low > tolerance) {
    // Where neither is feasible, the side of the best setting so far is kept.
    const bool keep_left =
        at_left || at_right ? is_better(at_left, at_right) : best.setting.value_or(low) < (low + high) / 2.0;
    if (keep_left) {
      high = right;
      right = left;
      at_right = at_left;
      left = high - shrink * (high - low);
      at_left = evaluate(left);
    } else {
      low = left;
      left = right;
      at_left = at_right;
      right = low + shrink * (high - low);
      at_right = evaluate(right);
    }
  }
  return best;
}

Found successive_halving(std::vector<double> settings, const SearchConfig& config, Trials& trials) {
  check(!settings.empty() && config.first_replications > 0 && config.keep_one_of > 1,
        "halving needs settings, replications, and to leave some behind");
  int replications = std::min(config.first_replications, config.replications);
  const auto keep_one_of = static_cast<std::size_t>(config.keep_one_of);
  while (true) {
    std::vector<Found> ranked;
    for (const double setting : settings)
      ranked.push_back({setting, score(trials.of(setting, replications), config, replications)});
    std::ranges::stable_sort(ranked, is_better, &Found::score);
    const bool is_last = settings.size() == 1 || replications == config.replications;
    if (is_last) return ranked.front().score ? ranked.front() : Found{};
    ranked.resize((ranked.size() + keep_one_of - 1) / keep_one_of);
    settings.clear();
    for (const Found& found : ranked) settings.push_back(*found.setting);
    replications = std::min(replications * config.keep_one_of, config.replications);
  }
}

}  // namespace paceline::search

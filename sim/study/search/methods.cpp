#include "sim/study/search/methods.hpp"

#include <algorithm>
#include <cmath>
#include <numbers>

#include "sim/base/check.hpp"
#include "sim/report/statistics/paired.hpp"

namespace paceline::search {
namespace {

Score score_of(const Run& run, const SearchConfig& config) {
  switch (config.minimize) {
    case SearchObjective::core_hours:
      return {0.0, run.core_hours};
    case SearchObjective::money:
      check(run.money || config.price_per_core_hour, "a search for money knows a price");
      return {0.0, run.money ? *run.money : *config.price_per_core_hour * run.core_hours};
    case SearchObjective::time_to_accuracy:
      break;
  }
  return {run.time_to_accuracy ? 0.0 : 1.0, run.time_to_accuracy.value_or(run.end_time).value()};
}

// A tenth of the tolerance, or the next smaller power of ten: what is tried has few digits.
double rounded(double wanted, double tolerance) {
  const double digits = std::ceil(1.0 - std::log10(tolerance));
  const double scale = std::pow(10.0, std::abs(digits));
  return digits >= 0.0 ? std::round(wanted * scale) / scale : std::round(wanted / scale) * scale;
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

bool are_alike(const Outcome& a, const Outcome& b, const SearchConfig& config) {
  if (!score(a, config) || !score(b, config)) return false;
  const bool is_time = config.minimize == SearchObjective::time_to_accuracy;
  const auto grid = [&](const Outcome& runs) {
    return is_time ? mean_evaluation_interval({runs.begin(), runs.end()}) : Seconds{};
  };
  std::vector<TimePair> pairs;
  for (std::size_t r = 0; r < std::min(a.size(), b.size()); ++r) {
    // Whatever is minimized is compared as times are.
    const auto compared = [&](const Run& run) {
      return is_time ? run.time_to_accuracy : std::optional(Seconds{score_of(run, config).value});
    };
    pairs.push_back({compared(a[r]), compared(b[r])});
  }
  if (std::ranges::all_of(pairs, [](const TimePair& pair) { return pair.first == pair.second; })) return true;
  if (pairs.size() < least_for_interval) return false;
  const PairedComparison paired = compare_paired(pairs, {grid(a), grid(b)});
  const Interval& interval = paired.difference ? paired.difference->interval_s : paired.p_faster.interval;
  const double equal = paired.difference ? 0.0 : 0.5;
  return interval.low <= equal && equal <= interval.high;
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
    const double setting = range.whole                                  ? std::round(wanted)
                           : wanted == range.from || wanted == range.to ? wanted
                                                                        : rounded(wanted, tolerance);
    const std::optional<Score> here = score(trials.of(setting, config.replications), config);
    if (is_better(here, best.score)) best = {setting, here};
    return here;
  };
  // The lowest point may be an end, which the interior points never reach.
  std::optional<Score> at_low = evaluate(range.from);
  std::optional<Score> at_high = evaluate(range.to);
  double low = range.from;
  double high = range.to;
  double left = high - shrink * (high - low);
  double right = low + shrink * (high - low);
  std::optional<Score> at_left = evaluate(left);
  std::optional<Score> at_right = evaluate(right);
  if (at_low && at_low == at_high && at_low == at_left && at_low == at_right) return best;
  while (high - low > tolerance) {
    // Where both are equal, what is to be found lies away from an end that is equal too. Else, and where
    // neither is feasible, the side of the best setting so far is kept.
    const bool is_flat = at_left && at_left == at_right && at_low != at_high;
    const bool keep_left = is_flat && at_high == at_right ? true
                           : is_flat && at_low == at_left ? false
                           : at_left == at_right          ? best.setting.value_or(low) < (low + high) / 2.0
                                                          : is_better(at_left, at_right);
    if (keep_left) {
      high = right;
      at_high = at_right;
      right = left;
      at_right = at_left;
      left = high - shrink * (high - low);
      at_left = evaluate(left);
    } else {
      low = left;
      at_low = at_left;
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

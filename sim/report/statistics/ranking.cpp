#include "sim/report/statistics/ranking.hpp"

#include <algorithm>
#include <limits>
#include <utility>

#include "sim/base/order_statistics.hpp"

namespace paceline {
namespace {

constexpr Seconds never{std::numeric_limits<double>::infinity()};

std::optional<double> median_accuracy(const ComparedRuns& runs) {
  std::vector<double> accuracies;
  for (const RunSummary& run : runs.runs)
    if (run.final_accuracy) accuracies.push_back(*run.final_accuracy);
  if (accuracies.empty()) return std::nullopt;
  return median(std::move(accuracies));
}

// Also where the order of the medians and the pairs contradict each other.
bool is_tie(const std::optional<PairedComparison>& paired) {
  constexpr double half = 0.5;
  return !paired || half <= paired->p_faster.interval.high;
}

// In order of time: whoever is more accurate than all before is on the front.
void find_front(std::vector<Ranked>& ranked) {
  std::vector<Ranked*> by_time;
  for (Ranked& one : ranked)
    if (one.time && one.accuracy) by_time.push_back(&one);
  std::ranges::stable_sort(by_time, [](const Ranked* a, const Ranked* b) {
    return *a->time != *b->time ? *a->time < *b->time : *a->accuracy > *b->accuracy;
  });
  double best = -never.value();
  for (Ranked* one : by_time) {
    one->is_on_front = *one->accuracy > best;
    best = std::max(best, *one->accuracy);
  }
}

}  // namespace

Seconds restricted_mean(const ComparedRuns& runs, Seconds horizon) {
  if (!runs.target_accuracy) return median_time(runs).value_or(horizon);
  return summarize_time_to_accuracy(runs.runs, horizon).restricted_mean;
}

std::vector<Ranked> rank(const std::vector<ComparedRuns>& combinations) {
  Seconds horizon;
  for (const ComparedRuns& runs : combinations) horizon = std::max(horizon, longest(runs.runs));
  std::vector<Ranked> ranked;
  for (const ComparedRuns& runs : combinations)
    ranked.push_back({.index = ranked.size(),
                      .time = median_time(runs),
                      .restricted_mean = restricted_mean(runs, horizon),
                      .accuracy = median_accuracy(runs)});
  std::ranges::stable_sort(ranked, [](const Ranked& a, const Ranked& b) {
    if (a.time != b.time) return a.time.value_or(never) < b.time.value_or(never);
    return a.restricted_mean < b.restricted_mean;
  });
  std::size_t leader = 0;
  for (std::size_t i = 0; i < ranked.size(); ++i) {
    if (i > 0) {
      ranked[i].against_leader =
          compare_pairs(combinations[ranked[leader].index], combinations[ranked[i].index]);
      if (is_tie(ranked[i].against_leader)) {
        ranked[i].is_tied = ranked[leader].is_tied = true;
      } else {
        leader = i;
      }
    }
    ranked[i].rank = leader + 1;
  }
  // Jobs that stop at a target end with about its accuracy, whatever they could reach.
  if (std::ranges::none_of(combinations,
                           [](const ComparedRuns& runs) { return runs.target_accuracy.has_value(); }))
    find_front(ranked);
  return ranked;
}

}  // namespace paceline

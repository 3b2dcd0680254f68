// Sync-Switch's offline search: the smallest share of synchronous training that keeps the
// accuracy of synchronous training alone.
//
// Models:      a recurring job whose converged accuracy grows with the share of it that trains synchronously,
//              and its time too. Shares are tried by halving an interval; the one that is chosen, and the
//              next lower one that was tried, are then run again on seeds the search has not seen.
// Equation:    A = mean final accuracy of R runs at share 1, or the target given; lower = 0, upper = 1;
//              M times:
//                r = (lower + upper) / 2;  a = mean final accuracy of R runs at r;
//                r is good if |A − a| <= β (two-sided) or A − a <= β (one-sided);
//                if so upper = r, else lower = r.
//              Chosen: upper. P(within β) of k of n fresh runs = (k + 1/2) / (n + 1), each run held against
//                      A.
//              Pay-off: jobs after which the search has cost less time than it saved
//                = ⌈time of all runs of the search / (mean time at share 1 − mean time at the chosen share)⌉.
// Units:       shares and accuracies as fractions, seconds of simulated time.
// Assumptions: a run's final accuracy is its converged one. The search's own runs would be made one after the
//              other. Replications 0 … R−1 are those of the search, R … R+n−1 the fresh ones.
// Not modelled: reuse of a search for another cluster; accuracies that do not grow with the share (then the
//              search still ends, at a good share, but not at the smallest).
// Source:      Sync-Switch (ICDCS 2021), timing policy: binary search with β = 0.01, about 5 runs and 5
//              settings.
#pragma once

#include <optional>
#include <vector>

#include "sim/report/statistics/time_to_accuracy.hpp"
#include "sim/study/search/methods.hpp"

namespace paceline::search {

enum class Sides { one, two };

struct TimingRules {
  std::optional<double> target_accuracy = {};  // absent: what share 1 reaches
  double tolerance = 0.01;
  Sides sides = Sides::two;
  int replications = 5;         // of each setting
  int settings = 5;             // tried between 0 and 1
  int fresh_replications = 20;  // of the two that are run again; 0: none
};

struct TriedShare {
  double share = 0.0;
  double mean_accuracy = 0.0;
  double accuracy_deviation = 0.0;  // sample standard deviation over its runs
  double mean_time_s = 0.0;
  bool is_good = false;
};

// A share on seeds the search has not seen.
struct FreshRuns {
  double share = 0.0;
  int runs = 0;
  int within_tolerance = 0;
  double mean_accuracy = 0.0;
  double mean_time_s = 0.0;
  bool is_good = false;  // its mean, by the rule of the search

  [[nodiscard]] double p_within() const { return (within_tolerance + 0.5) / (runs + 1.0); }
  [[nodiscard]] Interval interval() const { return jeffreys(within_tolerance, runs).interval; }
};

struct TimingChoice {
  double target_accuracy = 0.0;
  TriedShare all_synchronous;     // share 1
  std::vector<TriedShare> tried;  // in the order of the search
  double chosen = 1.0;
  std::vector<FreshRuns> fresh;  // the chosen one, then the next lower that was tried, if there is one
  SearchCost cost;               // without the fresh runs
  // Recurring jobs after which the search has paid off; absent: never, it saves nothing.
  std::optional<double> jobs_to_pay_off;
};

// Fresh runs that contradict the search: the chosen share misses the target, or the next lower one keeps it.
[[nodiscard]] std::optional<FreshRuns> contradiction(const TimingChoice& choice);

// Absent when share 1 does not reach the target within the tolerance: then no share can be asked to.
// `reached` says what it does reach.
struct TargetOutOfReach {
  double target_accuracy = 0.0;
  double reached = 0.0;
};
struct TimingResult {
  std::optional<TimingChoice> choice;
  std::optional<TargetOutOfReach> out_of_reach;
};

[[nodiscard]] TimingResult binary_search(const TimingRules& rules, Trials& trials);

}  // namespace paceline::search

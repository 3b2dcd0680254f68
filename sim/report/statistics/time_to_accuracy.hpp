// What several runs of one scenario say about the time to the target accuracy.
//
// Models:      n independent replications, each either reaching the target at time t_i or never.
// Equation:    P(reach) = (k + 1/2) / (n + 1) for k of n reached (Jeffreys), so never 0 or 1;
//              its 90 % interval: the 5 % and 95 % quantiles of Beta(k + 1/2, n - k + 1/2).
//              median: the middle of the t_i, a run that never reaches counting as infinitely slow.
//              Kaplan-Meier median: the first t with S(t) = prod_{t_i <= t} (1 - d_i / n_i) <= 1/2, midway to
//                the next t_i where it is exactly 1/2; d_i runs reach at t_i, n_i are still at work just
//                before. A run that did its whole workload without reaching is censored at its end: with more
//                work it might have reached. One that diverged or stalled never would.
//              90 % prediction interval for one further run, if all n >= 5 reached, with y_i = ln t_i:
//                exp(mean(y) ± t_{0.95, n-1} · s · sqrt(1 + 1/n)),  s² = max(var(y), (Δ/median)² / 12),
//              Δ the mean time between evaluations: times are rounded up to that grid, which a few runs that
//              happen to agree would hide. If some run never reached, the upper end is open; the lower end
//              then uses the runs that did (at least 5).
//              restricted mean: mean of min(t_i, horizon), a run that never reaches counting as the horizon:
//              the longest run of all that are compared, so that the means of a comparison can be compared.
// Units:       seconds.
// Assumptions: log-normal times across seeds; calibration error is part of the interval only when
//              each replication draws its profile (--profile-uncertainty).
// Not modelled: paired comparisons between variants (paired.hpp).
// Source:      Brown, Cai, DasGupta 2001 for the binomial; Kaplan and Meier 1958.
#pragma once

#include <cstddef>
#include <optional>
#include <vector>

#include "sim/report/statistics/run_summary.hpp"

namespace paceline {

// Of fewer an interval of times would be printed as if both its ends were known.
inline constexpr std::size_t least_for_interval = 5;
inline constexpr double interval_tail = 0.05;  // on each side of a 90 % interval

struct Interval {
  double low = 0.0;
  double high = 0.0;
};

// What trials say of a probability: never 0 or 1.
struct Probability {
  double value = 0.5;
  Interval interval;  // 90 %
};

struct TimeToAccuracy {
  int runs = 0;
  int reached = 0;
  Probability p_reach;
  std::optional<Seconds> median;               // absent: half of the runs or more never reached
  std::optional<Seconds> kaplan_meier_median;  // absent: the runs are too short to tell
  std::optional<Seconds> low;                  // 90 % prediction interval of one further run
  std::optional<Seconds> high;                 // absent with `low` present: open, beyond the horizon
  Seconds restricted_mean;
  Seconds horizon;
};

// End times of jobs, which all have one, whatever ended them.
struct EndTimes {
  Seconds median;
  int cut_short = 0;           // jobs that diverged or stalled
  std::optional<Seconds> low;  // 90 % prediction interval of one further run; absent with fewer than 5 runs
  std::optional<Seconds> high;
};

// `horizon`: at least the longest of the runs. `runs` is not empty.
[[nodiscard]] TimeToAccuracy summarize_time_to_accuracy(const std::vector<RunSummary>& runs, Seconds horizon);
[[nodiscard]] EndTimes summarize_end_times(const std::vector<RunSummary>& runs);
// Mean over the runs of the time between evaluations.
[[nodiscard]] Seconds mean_evaluation_interval(const std::vector<RunSummary>& runs);
[[nodiscard]] Seconds longest(const std::vector<RunSummary>& runs);

// `successes`: a tie is half a one.
[[nodiscard]] Probability jeffreys(double successes, double trials);

}  // namespace paceline

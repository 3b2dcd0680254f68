// What two variants' runs with common seeds say about which is faster, and by how much.
//
// Models:      n pairs of times (a_i, b_i), a_i of the first variant and b_i of this one in the replication
//              of the same seed; an absent time was never reached and is slower than any that was.
// Equation:    w = wins of b + ties / 2; two that never reached are a tie.
//              P(b faster): w of n (time_to_accuracy.hpp).
//              realized correlation: Pearson's r of (ln a_i, ln b_i) over the m pairs where both reached;
//                absent for m < 3 or when one does not vary.
//              speed-up, if all pairs reached, with d_i = ln a_i - ln b_i: exp(mean(d)); its interval from n
//              >= 5 on:
//                exp(mean(d) ± t_{0.95, n-1} · s / sqrt(n)),  s² = max(var(d), (g_a² + g_b²) / 12),
//                g = G / mean time, G the time between evaluations: a 90 % interval of the mean ratio.
//              difference, if all pairs reached and n >= 5, likewise: mean(b_i - a_i) ± t_{0.95, n-1} · s /
//                sqrt(n), s² = max(var(b_i - a_i), (G_a² + G_b²) / 12).
// Units:       seconds; speed-up above 1 and differences below 0: this one is faster.
// Assumptions: log-normal ratios for the speed-up's interval; none for the probability but independent pairs.
// Not modelled: calibration error, which both variants share.
// Source:      Brown, Cai, DasGupta 2001 (Jeffreys interval).
#pragma once

#include <optional>
#include <vector>

#include "sim/report/statistics/time_to_accuracy.hpp"

namespace paceline {

struct TimePair {
  std::optional<Seconds> first;
  std::optional<Seconds> second;
};

struct PairedDifference {
  double mean_s = 0.0;
  Interval interval_s;  // 90 %
};

struct PairedComparison {
  int pairs = 0;
  Probability p_faster;  // that the second beats the first
  std::optional<double> correlation;
  std::optional<double> speedup;               // geometric mean of the ratios
  std::optional<Interval> speedup_interval;    // 90 %
  std::optional<PairedDifference> difference;  // of the second less the first
};

// The time between evaluations, of the first and of the second; 0: times are not read off evaluations.
struct EvaluationGrid {
  Seconds first;
  Seconds second;
};

// `pairs` is not empty.
[[nodiscard]] PairedComparison compare_paired(const std::vector<TimePair>& pairs,
                                              const EvaluationGrid& grid = {});

}  // namespace paceline

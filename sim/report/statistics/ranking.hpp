// Which of many combinations is best, which cannot be told apart, and which are worth their time.
//
// Models:      combinations of a study with runs of common seeds.
// Equation:    order: median time (never last), then restricted mean. Ties: a combination shares the rank of
//              the best one before it whose 90 % interval of P(faster) against it reaches 1/2 (so that no
//              rank contradicts the pairs), or with which it has no pairs at all.
//              Pareto front: no other combination has both a lower median time and a final accuracy (median)
//              at least as high, or an equal time and a higher one.
// Units:       seconds; accuracy as a fraction.
// Assumptions: those of paired.hpp. A tie says that these runs do not tell them apart, not that they are
//              equal; with more replications it may break. Of many that are compared some win by chance: the
//              intervals are each for one pair.
// Not modelled: correction for the number of comparisons.
#pragma once

#include <cstddef>
#include <optional>
#include <vector>

#include "sim/report/statistics/comparison.hpp"

namespace paceline {

struct Ranked {
  std::size_t index = 0;             // into what was ranked
  std::size_t rank = 1;              // the place of the first that it is tied with
  bool is_tied = false;              // shares its rank
  std::optional<Seconds> time = {};  // median, to the target or to the end; absent: never
  Seconds restricted_mean = {};
  std::optional<double> accuracy = {};  // median of the final ones
  // With the first of its rank; of this first with the one of the rank above: is it faster?
  std::optional<PairedComparison> against_leader = {};
  bool is_on_front = false;  // Pareto: time against accuracy, where there is no target
};

// The best first.
[[nodiscard]] std::vector<Ranked> rank(const std::vector<ComparedRuns>& combinations);

// Of times to the target; without one the median time, the horizon where half of the jobs or more diverged or
// stalled.
[[nodiscard]] Seconds restricted_mean(const ComparedRuns& runs, Seconds horizon);

}  // namespace paceline

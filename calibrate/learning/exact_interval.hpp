// Where a share that was counted really lies, with at least the confidence asked for.
//
// Equation:    of k in n: from the 5 % quantile of Beta(k, n - k + 1) to the 95 % quantile of Beta(k + 1, n
//              - k); 0 below
//              none, 1 above all.
// Assumptions: the n are independent, each inside with the same probability.
// Source:      Clopper and Pearson, Biometrika 1934.
#pragma once

#include <boost/math/distributions/beta.hpp>

#include "sim/base/check.hpp"
#include "sim/report/statistics/time_to_accuracy.hpp"

namespace paceline {

// Standard deviations between the 5 % and the 95 % quantile of a normal distribution: what few runs tell of
// the distance of these, without the bias of their own quantiles.
inline constexpr double normal_5_to_95 = 3.29;

[[nodiscard]] inline Interval exact_interval(int successes, int trials) {
  check(trials > 0 && successes >= 0 && successes <= trials, "a share needs trials");
  constexpr double tail = 0.05;
  const double k = successes;
  const double n = trials;
  const auto beta_quantile = [](double a, double b, double p) {
    return boost::math::quantile(boost::math::beta_distribution<double>(a, b), p);
  };
  return {successes == 0 ? 0.0 : beta_quantile(k, n - k + 1.0, tail),
          successes == trials ? 1.0 : beta_quantile(k + 1.0, n - k, 1.0 - tail)};
}

}  // namespace paceline

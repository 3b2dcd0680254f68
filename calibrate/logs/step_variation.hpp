// How the times of successive steps vary: each on its own, and in spells during which a core is slower.
//
// Models:      x_i = ln(time of step i / its series' mean) = e_i + z(t_i): noise of single steps, and a level
//              that stays for a spell.
// Equation:    covariance of x at two dates a time τ apart: σ²·(1 − τ/L) up to L, then 0: a level drawn anew
//              every L, wherever spells begin. Of all pairs of steps of a series up to a quarter of its
//              length apart, in bins of a median step: L is the one with which these covariances have the
//              least squared error, σ² follows. Steps that take more than
//              three times the median are stalls, and
//              left out. cv = √(exp(σ²) − 1); of single steps likewise from the variance that σ² leaves.
//              Of a mean over T ≥ L spells leave the variance σ²·(L/T − L²/(3·T²)), of a shorter one
//              σ²·(1 − T/(3·L)). Series of several workers, each in several passes, differ by
//              x_wp = ln(mean of worker w in pass p) = a_w + b_p + r_wp, with (W − 1)·(P − 1) degrees of
//              freedom left to the residuals r.
//              Of steps of t seconds σ² = c² + (s/t)², from two lengths of step; spells as those of the
//              longer ones. Where c² would be less than 0 it is 0, and s² the mean of σ²·t² of both; s is 0
//              where the shorter ones vary by no larger share.
// Units:       seconds.
// Assumptions: steps of one series do the same work. No spells where Σ x_i·x_j·(1 − τ/L) is within four
//              standard deviations of what independent steps give.
// Not modelled: spells longer than a quarter of a series: they make series differ; lengths that vary;
//              the mean of a series is its own, which hides about L/T of σ² in one of length T.
// Source:      Cressie, Statistics for Spatial Data, 1993, sections 2.4 and 2.6 (variograms by least
//              squares).
#pragma once

#include <cstddef>
#include <optional>
#include <string>
#include <vector>

#include "sim/cost/compute_time.hpp"

namespace paceline::calibrate {

struct TimedStep {
  double at_s = 0.0;  // its end
  double took_s = 0.0;
};

struct StepVariation {
  double iteration_cv = 0.0;
  Seconds iteration_fixed{};  // standard deviation that does not grow with a step, besides
  std::optional<Spells> spells{};
};

// Not where no series had enough steps, or all of them took equally long.
[[nodiscard]] inline bool is_measured(const StepVariation& variation) {
  return variation.iteration_cv > 0.0 || variation.spells.has_value();
}

inline constexpr std::size_t fewest_varied_steps = 40;

// Of several series, each by ascending time; those of fewer steps are left out.
[[nodiscard]] StepVariation step_variation(const std::vector<std::vector<TimedStep>>& series);

// Without what these others explain of it.
[[nodiscard]] StepVariation less(StepVariation variation, const StepVariation& explained);
// Of steps of any length, from how those of two lengths vary. `longer` and `shorter`: how long they take;
// where that is the same, nothing is told apart.
[[nodiscard]] StepVariation by_length(StepVariation of_longer, Seconds longer,
                                      const StepVariation& of_shorter, Seconds shorter);

// Of the logarithm of the mean time over so long that spells alone leave to it.
[[nodiscard]] double variance_of_mean(const std::optional<Spells>& spells, Seconds over);

struct Residuals {
  double squares = 0.0;
  std::size_t freedom = 0;
  [[nodiscard]] double variance() const {
    return freedom == 0 ? 0.0 : squares / static_cast<double>(freedom);
  }
  Residuals& operator+=(const Residuals& more) {
    squares += more.squares;
    freedom += more.freedom;
    return *this;
  }
};
// Of the logarithms of a table, by row and column: what their means leave. All rows are as long.
[[nodiscard]] Residuals log_residuals(const std::vector<std::vector<double>>& rows);

// "iteration: 18 %, iteration_fixed: 50 us, spells: {variation: 13 %, length: 210 ms}"
[[nodiscard]] std::string scenario_words(const StepVariation& variation);

}  // namespace paceline::calibrate

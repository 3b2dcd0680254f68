// Many runs of a fitted learner under a recorded plan, and what a reader asks of them: final accuracy,
// spread, time to accuracy, probability to reach it. Recorded runs are asked the same.
//
// Models:      runs with effects and evaluation noise, evaluated where the recorded runs were; the clock is a
//              table of seconds per step, synchronous and asynchronous.
// Equation:    time to accuracy = time of the first evaluation at or above the threshold: its mean over the
//              runs that reach it, and the median of all runs, of which those that never reach it are the
//              slowest. A figure of few runs lies between the 5 % and 95 % quantiles of the figure over 400
//              sets of as many runs, drawn from the predicted ones with replacement, or over the sets that
//              were predicted; sets without the figure are left out. The runs of a predicted set share fit,
//              model error, setting and cluster; each has effects, noise and a rate of its own; times are
//              those of the rates times exp(cluster·z₁ + setting·z₂ + run·z₃).
// Units:       seconds of training time without the pause between phases; accuracies as fractions.
// Assumptions: seconds per step are constant within a protocol; synchronous and asynchronous ones of another
//              cluster are slower or faster alike.
// Not modelled: what the simulator adds to the clock (stragglers, network): this judges the learning half.
// Source:      bootstrap: Efron and Tibshirani, "An introduction to the bootstrap", 1993.
#pragma once

#include <functional>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "calibrate/learning/model_fit.hpp"
#include "sim/learning/statistical_model.hpp"
#include "sim/report/statistics/time_to_accuracy.hpp"

namespace paceline {

struct ClockRates {
  std::optional<double> synchronous_s_per_step;
  std::optional<double> asynchronous_s_per_step;
  // Once, where an asynchronous phase follows a synchronous one: what neither step tells.
  double to_asynchronous_s = 0.0;
};
// Total seconds over total steps of all phases, by protocol.
[[nodiscard]] ClockRates rates_of(std::span<const PhaseTime> phases);
// Of the phases recorded in these groups with as many workers; where there are none, of all of them, scaled:
// a synchronous step takes proportionally longer with more workers (a serial coordinator), an asynchronous
// mini-batch proportionally shorter.
[[nodiscard]] ClockRates rates_of(std::span<const TracedGroup> groups, std::uint32_t workers);
// Training time until this much work is done; nothing when a rate it needs is missing.
[[nodiscard]] std::optional<double> time_at(const TrainingPlan& plan, const ClockRates& rates,
                                            double minibatches);

// What these rates leave of the recorded time of a run whose asynchronous phase follows a synchronous one;
// nothing for other runs.
[[nodiscard]] std::optional<double> unexplained_s(const TrainingRun& run, const ClockRates& rates);

struct PredictedRun {
  Curve accuracy;                             // at its evaluations; empty after divergence
  std::vector<std::optional<double>> time_s;  // of the same evaluations
  std::optional<double> total_time_s{};
  std::vector<PhaseTime> phases{};  // as they were simulated; empty where only rates are known
};

struct PredictedRuns {
  std::vector<PredictedRun> runs;
  std::size_t runs_in_set = 1;  // so many in a row share what is unknown of fit and cluster
  // Of those that did not diverge; a deviation needs two.
  [[nodiscard]] double mean_final() const;
  [[nodiscard]] std::optional<double> final_deviation() const;
  [[nodiscard]] double diverged_share() const;
};
// Evaluated where the recorded runs were, without simulating a cluster: times come from rates.
[[nodiscard]] PredictedRuns predict_runs(const FittedLearner& learner, const TracedGroup& group,
                                         const ClockRates& rates, int runs);

// Relative standard deviations of the time of a job.
struct TimeVariation {
  double run = 0.0;      // between runs on one cluster
  double cluster = 0.0;  // between clusters of one kind, or one cluster on different days
  double setting = 0.0;  // between a setting and what the others tell of it
};
// Which causes of variation a prediction carries.
struct SourcesOfVariation {
  bool run = true;    // effects, evaluation noise and rate of the run
  bool fit = true;    // members
  bool model = true;  // error of the form and of the rates for a policy not fitted
  bool cluster = true;
};
struct PredictionSets {
  int sets = 60;
  int runs_in_set = 5;
  SourcesOfVariation sources{};
};
// Replays as above, with everything drawn that `sources` names, evaluated where each recorded run was in
// turn.
[[nodiscard]] PredictedRuns predict_sets(const StatisticalModel& model, const TracedGroup& group,
                                         const ClockRates& rates, const TimeVariation& variation,
                                         const PredictionSets& sets);
// The recorded runs that have a curve, each timed by its own rates.
[[nodiscard]] PredictedRuns recorded_curves(const RunGroup& group);

struct Reached {
  std::size_t runs = 0;
  std::size_t reached = 0;
  std::optional<double> mean_time_s{};    // over the runs that reached it
  std::optional<double> time_sd_s{};      // of these times; from two runs on
  std::optional<double> median_time_s{};  // of all runs
};
[[nodiscard]] Reached reach(const PredictedRuns& predicted, double threshold);

using Figure = std::function<std::optional<double>(const PredictedRuns&)>;
// Where the figure lies for this many runs; nothing when fewer than 20 of the sets have it.
[[nodiscard]] std::optional<Interval> predicted_range(const PredictedRuns& predicted, std::size_t runs,
                                                      const Figure& figure);

}  // namespace paceline

// Many runs of a fitted learner under a recorded plan, and what a reader asks of them: final accuracy, spread, time to
// accuracy, probability to reach it.
//
// Models:      runs with effects and evaluation noise, evaluated where the recorded runs were; the clock is a table of
//              seconds per step, synchronous and asynchronous.
// Equation:    time to accuracy = time of the first evaluation at or above the threshold; a mean over the runs that
//              reach it stands beside the share that does, and beside the median of all runs.
// Units:       seconds of training time without the pause at a switch; accuracies as fractions.
// Assumptions: seconds per step are constant within a protocol.
// Not modelled: what the simulator adds to the clock (stragglers, network): this judges the learning half.
// Source:      reference/sync-switch.md, section 5.1.
#pragma once

#include <optional>
#include <span>
#include <string>
#include <vector>

#include "calibrate/learning/model_fit.hpp"
#include "sim/learning/statistical_model.hpp"

namespace paceline {

struct ClockRates {
  std::optional<double> synchronous_s_per_step;
  std::optional<double> asynchronous_s_per_step;
};
// Total seconds over total steps of the phases recorded in these groups with as many workers; where there are none, of
// all of them, scaled: a synchronous step takes proportionally longer with more workers (a serial coordinator), an
// asynchronous mini-batch proportionally shorter.
[[nodiscard]] ClockRates rates_of(std::span<const TracedGroup> groups, std::uint32_t workers);
[[nodiscard]] ClockRates rates_of(const TrainingRun& run);
// Training time until this much work is done; nothing when a rate it needs is missing.
[[nodiscard]] std::optional<double> time_at(const TrainingPlan& plan, const ClockRates& rates,
                                            double minibatches);

struct FittedLearner {
  FittedForm form;
  RunSpread spread;
  EvaluationNoise noise;
};
// The form twice: the second time the mean over runs with the spread found is what is fitted to the recorded mean. The
// spread is the one found with the first, the noise that of the second.
[[nodiscard]] FittedLearner fit_learner(const FormDescription& form, std::span<const TracedGroup> groups,
                                        const FitOptions& options);

struct PredictedRun {
  std::vector<PositionedValue> accuracy;      // at its evaluations; empty after divergence
  std::vector<std::optional<double>> time_s;  // of the same evaluations
  std::optional<double> total_time_s{};
  std::vector<PhaseTime> phases{};  // as they were simulated; empty where only rates are known
};

struct PredictedRuns {
  std::vector<PredictedRun> runs;
  [[nodiscard]] double mean_final() const;
  // Of those that did not diverge, if two or more.
  [[nodiscard]] std::optional<double> final_deviation() const;
  [[nodiscard]] double diverged_share() const;
  // Over the runs that did not diverge, linear between evaluations.
  [[nodiscard]] std::optional<double> mean_accuracy_at(double minibatches) const;
};
// Evaluated where the recorded runs were, without simulating a cluster: times come from rates.
[[nodiscard]] PredictedRuns predict_runs(const FittedLearner& learner, const TracedGroup& group,
                                         const ClockRates& rates, int runs);

struct Reached {
  std::size_t runs = 0;  // with a curve
  std::size_t reached = 0;
  double mean_minibatches = 0.0;        // over the runs that reached it
  std::optional<double> mean_time_s;    // of the same runs
  std::optional<double> time_error_s;   // standard error of that mean; from two runs on
  std::optional<double> median_time_s;  // of all runs, one that never reaches counts as slowest
};
[[nodiscard]] Reached reach(const PredictedRuns& predicted, double threshold);
// Runs with a curve only; each with its own rates.
[[nodiscard]] Reached reach(const RunGroup& recorded, double threshold);

}  // namespace paceline

// Many runs of a fitted learner under a recorded plan, and what a reader asks of them: final accuracy, spread, time to
// accuracy, probability to reach it.
//
// Models:      runs with effects and evaluation noise, evaluated where the recorded runs were; the clock is a table of
//              seconds per step, synchronous and asynchronous.
// Equation:    time to accuracy = time of the first evaluation at or above the threshold; a mean over the runs that
//              reach it stands beside the share that does.
// Units:       seconds of training time without the pause at a switch; accuracies as fractions.
// Assumptions: seconds per step are constant within a protocol.
// Not modelled: what the simulator adds to the clock (stragglers, network): this judges the learning half.
// Source:      reference/sync-switch.md, section 5.1.
#pragma once

#include <optional>
#include <span>
#include <string>
#include <vector>

#include "sim/fit/model_fit.hpp"
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
[[nodiscard]] FittedLearner fit_learner(const FormDescription& form, std::span<const TracedGroup> groups,
                                        const FitOptions& options);

struct PredictedRuns {
  std::vector<double> positions;              // of the evaluations, in mini-batches
  std::vector<std::vector<double>> accuracy;  // by run, by evaluation; empty after divergence
  [[nodiscard]] double mean_final() const;
  [[nodiscard]] double final_deviation() const;
  [[nodiscard]] double diverged_share() const;
};
[[nodiscard]] PredictedRuns predict_runs(const FittedLearner& learner, const TracedGroup& group, int runs);

struct Reached {
  std::size_t runs = 0;
  std::size_t reached = 0;
  double mean_minibatches = 0.0;      // over the runs that reached it
  std::optional<double> mean_time_s;  // of the same runs
};
[[nodiscard]] Reached reach(const PredictedRuns& predicted, const TrainingPlan& plan, const ClockRates& rates,
                            double threshold);
// Runs with a curve only; each with its own rates.
[[nodiscard]] Reached reach(const RunGroup& recorded, double threshold);

}  // namespace paceline

#include "calibrate/learning/prediction.hpp"

#include <algorithm>
#include <cmath>
#include <utility>

#include "sim/base/check.hpp"
#include "sim/base/order_statistics.hpp"

namespace paceline {
namespace {

constexpr std::size_t least_curve = 3;        // rows from which a run has a curve
constexpr double evaluations_per_run = 32.0;  // where no run has one
constexpr std::uint32_t prediction_seed = 2;
constexpr std::uint32_t range_seed = 3;
constexpr std::uint32_t set_seed = 4;
constexpr std::uint32_t range_sets = 400;
constexpr std::size_t fewest_figures = 20;
constexpr double range_tail = 0.05;

std::optional<double> seconds_per_step(std::span<const PhaseTime> phases, bool synchronous) {
  double seconds = 0.0;
  double steps = 0.0;
  for (const PhaseTime& phase : phases) {
    if (phase.synchronous != synchronous) continue;
    seconds += phase.steps * phase.seconds_per_step;
    steps += phase.steps;
  }
  return steps > 0.0 ? std::optional(seconds / steps) : std::nullopt;
}

std::vector<double> evaluation_positions(const RunGroup& group) {
  for (const TrainingRun& run : group.runs)
    if (run.accuracy.size() >= least_curve) return positions_of(run.accuracy);
  std::vector<double> positions;
  const double workload = group.plan().workload_minibatches();
  for (double i = 1.0; i <= evaluations_per_run; ++i) positions.push_back(workload * i / evaluations_per_run);
  return positions;
}

// Those of every run that has a curve.
std::vector<std::vector<double>> all_evaluation_positions(const RunGroup& group) {
  std::vector<std::vector<double>> all;
  for (const TrainingRun& run : group.runs)
    if (run.accuracy.size() >= least_curve) all.push_back(positions_of(run.accuracy));
  if (all.empty()) all.push_back(evaluation_positions(group));
  return all;
}

ClockRates scaled_by(ClockRates rates, double factor) {
  for (std::optional<double>* rate : {&rates.synchronous_s_per_step, &rates.asynchronous_s_per_step})
    if (*rate) **rate *= factor;
  rates.to_asynchronous_s *= factor;
  return rates;
}

std::vector<std::optional<double>> times_at(const TrainingPlan& plan, const ClockRates& rates,
                                            std::span<const double> positions) {
  std::vector<std::optional<double>> times;
  for (const double position : positions) times.push_back(time_at(plan, rates, position));
  return times;
}

// A run's own.
ClockRates own_rates(const TrainingRun& run) {
  ClockRates rates = rates_of(run.phases);
  if (const std::optional<double> rest = unexplained_s(run, rates))
    rates.to_asynchronous_s = std::max(0.0, *rest);
  return rates;
}

// The middle of the times of all runs; those that are missing are the slowest.
std::optional<double> median_of(std::vector<double> times, std::size_t runs) {
  std::ranges::sort(times);
  const std::size_t upper = runs / 2;
  if (upper >= times.size()) return std::nullopt;
  return runs % 2 == 1 ? times[upper] : 0.5 * (times[upper - 1] + times[upper]);
}

std::vector<double> final_accuracies(const PredictedRuns& predicted) {
  std::vector<double> finals;
  for (const PredictedRun& run : predicted.runs)
    if (!run.accuracy.empty()) finals.push_back(run.accuracy.back().value);
  return finals;
}

// So many runs: the first of a set, or drawn with replacement where there are no sets.
PredictedRuns drawn(const PredictedRuns& predicted, std::size_t runs, std::uint32_t set) {
  RandomStream random({range_seed, set}, Purpose::bootstrap);
  const bool has_sets = predicted.runs_in_set > 1;
  PredictedRuns few;
  for (std::size_t i = 0; i < runs; ++i)
    few.runs.push_back(
        predicted.runs[has_sets ? predicted.runs_in_set * set + i : random.below(predicted.runs.size())]);
  return few;
}

}  // namespace

ClockRates rates_of(std::span<const PhaseTime> phases) {
  return {seconds_per_step(phases, true), seconds_per_step(phases, false)};
}

ClockRates rates_of(std::span<const TracedGroup> groups, std::uint32_t workers) {
  std::vector<PhaseTime> same;
  std::vector<PhaseTime> scaled;
  for (const TracedGroup& group : groups) {
    for (const TrainingRun& run : group.group.runs) {
      const double ratio = static_cast<double>(workers) / static_cast<double>(run.plan.workers);
      if (run.plan.workers == workers) same.insert(same.end(), run.phases.begin(), run.phases.end());
      for (PhaseTime phase : run.phases) {
        phase.seconds_per_step *= phase.synchronous ? ratio : 1.0 / ratio;
        scaled.push_back(phase);
      }
    }
  }
  ClockRates rates = rates_of(same);
  const ClockRates others = rates_of(scaled);
  if (!rates.synchronous_s_per_step) rates.synchronous_s_per_step = others.synchronous_s_per_step;
  if (!rates.asynchronous_s_per_step) rates.asynchronous_s_per_step = others.asynchronous_s_per_step;
  return rates;
}

std::optional<double> time_at(const TrainingPlan& plan, const ClockRates& rates, double minibatches) {
  double time = 0.0;
  bool was_synchronous = false;
  for (const PlanPhase& phase : plan.phases) {
    const bool last = &phase == &plan.phases.back();
    const double here = last ? minibatches : std::min(minibatches, phase.minibatches);
    if (here <= 0.0) break;
    if (was_synchronous && !phase.synchronous) time += rates.to_asynchronous_s;
    was_synchronous = phase.synchronous;
    const std::optional<double> rate =
        phase.synchronous ? rates.synchronous_s_per_step : rates.asynchronous_s_per_step;
    if (!rate) return std::nullopt;
    time += *rate * here / plan.minibatches_per_step(phase);
    minibatches -= here;
  }
  return time;
}

std::optional<double> unexplained_s(const TrainingRun& run, const ClockRates& rates) {
  const auto follows = [](const PlanPhase& before, const PlanPhase& after) {
    return before.synchronous && !after.synchronous;
  };
  if (!run.training_time_s || std::ranges::adjacent_find(run.plan.phases, follows) == run.plan.phases.end())
    return std::nullopt;
  const std::optional<double> time =
      time_at(run.plan, rates, run.timed_minibatches.value_or(run.plan.workload_minibatches()));
  return time ? std::optional(*run.training_time_s - *time) : std::nullopt;
}

double PredictedRuns::mean_final() const {
  return mean_of(final_accuracies(*this)).value_or(0.0);
}

std::optional<double> PredictedRuns::final_deviation() const {
  return deviation_of(final_accuracies(*this));
}

double PredictedRuns::diverged_share() const {
  const auto diverged =
      std::ranges::count_if(runs, [](const PredictedRun& run) { return run.accuracy.empty(); });
  return runs.empty() ? 0.0 : static_cast<double>(diverged) / static_cast<double>(runs.size());
}

PredictedRuns predict_runs(const FittedLearner& learner, const TracedGroup& group, const ClockRates& rates,
                           int runs) {
  const TrainingPlan& plan = group.group.plan();
  const std::vector<double> positions = evaluation_positions(group.group);
  const std::vector<std::optional<double>> times = times_at(plan, rates, positions);
  PredictedRuns predicted;
  for (int r = 0; r < runs; ++r) {
    const Seed seed{prediction_seed, static_cast<std::uint32_t>(r)};
    const std::vector<FormReading> readings =
        predict(learner.form, group, positions, draw_run_effects(learner.spread, seed));
    RandomStream random(seed, Purpose::learning_curve, 2);
    PredictedRun run{{}, times, time_at(plan, rates, plan.workload_minibatches()), {}};
    for (std::size_t i = 0; i < positions.size(); ++i)
      run.accuracy.push_back({positions[i], learner.noise.evaluated(readings[i], random)});
    if (!std::isfinite(readings.back().loss)) run.accuracy.clear();
    predicted.runs.push_back(std::move(run));
  }
  return predicted;
}

PredictedRuns predict_sets(const StatisticalModel& model, const TracedGroup& group, const ClockRates& rates,
                           const TimeVariation& variation, const PredictionSets& sets) {
  const TrainingPlan& plan = group.group.plan();
  const std::vector<std::vector<double>> all_positions = all_evaluation_positions(group.group);
  const SourcesOfVariation& sources = sets.sources;
  PredictedRuns predicted{.runs = {}, .runs_in_set = static_cast<std::size_t>(sets.runs_in_set)};
  for (int set = 0; set < sets.sets; ++set) {
    const Seed shared{set_seed, static_cast<std::uint32_t>(set)};
    const DrawnFit fit = draw_fit(sources.fit ? model.members.size() : 0,
                                  sources.model ? model.model_error : std::nullopt, shared);
    RandomStream set_clock(shared, Purpose::bootstrap);
    const double of_set = set_clock.normal(0.0, sources.cluster ? variation.cluster : 0.0) +
                          set_clock.normal(0.0, sources.model ? variation.setting : 0.0);
    for (int r = 0; r < sets.runs_in_set; ++r) {
      const Seed seed{prediction_seed, static_cast<std::uint32_t>(set * sets.runs_in_set + r)};
      const std::vector<double>& positions = all_positions[seed.replication % all_positions.size()];
      const RunEffects own = sources.run ? draw_run_effects(model.spread, seed) : RunEffects{};
      const std::unique_ptr<LearningForm> form =
          model.form->make(fit.member ? model.members[*fit.member] : model.values,
                           {.classes = model.classes, .effects = with_fit(own, fit)});
      const std::vector<FormReading> readings = group.trace->run(*form, positions);
      RandomStream random(seed, Purpose::learning_curve, 2);
      RandomStream clock(seed, Purpose::bootstrap);
      const double factor = std::exp(of_set + clock.normal(0.0, sources.run ? variation.run : 0.0));
      const ClockRates scaled = scaled_by(rates, factor);
      PredictedRun run{
          {}, times_at(plan, scaled, positions), time_at(plan, scaled, plan.workload_minibatches()), {}};
      for (std::size_t i = 0; i < positions.size(); ++i)
        run.accuracy.push_back(
            {positions[i], sources.run ? model.noise.evaluated(readings[i], random) : readings[i].accuracy});
      if (!std::isfinite(readings.back().loss)) run.accuracy.clear();
      predicted.runs.push_back(std::move(run));
    }
  }
  return predicted;
}

PredictedRuns recorded_curves(const RunGroup& group) {
  PredictedRuns curves;
  for (const TrainingRun& run : group.runs) {
    if (run.accuracy.size() < least_curve) continue;
    curves.runs.push_back({run.accuracy, times_at(run.plan, own_rates(run), positions_of(run.accuracy)),
                           run.training_time_s, run.phases});
  }
  return curves;
}

Reached reach(const PredictedRuns& predicted, double threshold) {
  Reached reached{.runs = predicted.runs.size()};
  std::vector<double> times;
  for (const PredictedRun& run : predicted.runs) {
    const auto first = std::ranges::find_if(
        run.accuracy, [&](const PositionedValue& point) { return point.value >= threshold; });
    if (first == run.accuracy.end()) continue;
    ++reached.reached;
    if (const std::optional<double> time = run.time_s[static_cast<std::size_t>(first - run.accuracy.begin())])
      times.push_back(*time);
  }
  if (times.empty() || times.size() < reached.reached) return reached;
  reached.mean_time_s = mean_of(times);
  reached.time_sd_s = deviation_of(times);
  reached.median_time_s = median_of(times, reached.runs);
  return reached;
}

std::optional<Interval> predicted_range(const PredictedRuns& predicted, std::size_t runs,
                                        const Figure& figure) {
  if (predicted.runs.empty() || runs == 0) return std::nullopt;
  check(predicted.runs_in_set == 1 || runs <= predicted.runs_in_set, "a set has enough runs");
  const std::size_t sets =
      predicted.runs_in_set > 1 ? predicted.runs.size() / predicted.runs_in_set : range_sets;
  std::vector<double> figures;
  for (std::uint32_t set = 0; set < sets; ++set)
    if (const std::optional<double> value = figure(drawn(predicted, runs, set))) figures.push_back(*value);
  if (figures.size() < fewest_figures) return std::nullopt;
  return Interval{quantile(figures, range_tail), quantile(figures, 1.0 - range_tail)};
}

}  // namespace paceline

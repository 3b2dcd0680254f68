#include "calibrate/learning/prediction.hpp"

#include <algorithm>
#include <cmath>
#include <numeric>
#include <utility>

#include "calibrate/learning/spread_fit.hpp"

namespace paceline {
namespace {

constexpr std::size_t least_curve = 3;        // rows from which a run has a curve
constexpr double evaluations_per_run = 32.0;  // where no run has one
constexpr std::uint32_t prediction_seed = 2;

struct RateSums {
  double synchronous_s = 0.0;
  double synchronous_steps = 0.0;
  double asynchronous_s = 0.0;
  double asynchronous_steps = 0.0;

  // `workers` relative to those of the run.
  void add(const TrainingRun& run, double workers = 1.0) {
    for (const PhaseTime& phase : run.phases) {
      const double scale = phase.synchronous ? workers : 1.0 / workers;
      (phase.synchronous ? synchronous_s : asynchronous_s) += phase.steps * phase.seconds_per_step * scale;
      (phase.synchronous ? synchronous_steps : asynchronous_steps) += phase.steps;
    }
  }
  [[nodiscard]] ClockRates rates() const {
    ClockRates rates;
    if (synchronous_steps > 0.0) rates.synchronous_s_per_step = synchronous_s / synchronous_steps;
    if (asynchronous_steps > 0.0) rates.asynchronous_s_per_step = asynchronous_s / asynchronous_steps;
    return rates;
  }
};

std::vector<double> evaluation_positions(const RunGroup& group) {
  std::vector<double> positions;
  for (const TrainingRun& run : group.runs) {
    if (run.accuracy.size() < least_curve) continue;
    for (const PositionedValue& point : run.accuracy) positions.push_back(point.minibatches);
    return positions;
  }
  const double workload = group.plan().workload_minibatches();
  for (double i = 1.0; i <= evaluations_per_run; ++i) positions.push_back(workload * i / evaluations_per_run);
  return positions;
}

// Of runs given by when they reached it: absent for those that never did, with or without a known time otherwise.
struct Crossing {
  double minibatches = 0.0;
  std::optional<double> time_s;
};

double standard_error(const std::vector<double>& values, double mean) {
  double squares = 0.0;
  for (const double value : values) squares += (value - mean) * (value - mean);
  const auto n = static_cast<double>(values.size());
  return std::sqrt(squares / (n - 1.0) / n);
}

// The middle of n times of which the slowest are never.
std::optional<double> median_of(std::vector<double> times, std::size_t runs) {
  std::sort(times.begin(), times.end());
  const std::size_t upper = runs / 2;
  if (upper >= times.size()) return std::nullopt;
  return runs % 2 == 1 ? times[upper] : 0.5 * (times[upper - 1] + times[upper]);
}

Reached summary_of(std::size_t runs, const std::vector<Crossing>& crossings) {
  Reached reached;
  reached.runs = runs;
  reached.reached = crossings.size();
  std::vector<double> times;
  for (const Crossing& crossing : crossings) {
    reached.mean_minibatches += crossing.minibatches / static_cast<double>(crossings.size());
    if (crossing.time_s) times.push_back(*crossing.time_s);
  }
  if (times.empty() || times.size() < crossings.size()) return reached;
  const double mean = std::accumulate(times.begin(), times.end(), 0.0) / static_cast<double>(times.size());
  reached.mean_time_s = mean;
  if (times.size() > 1) reached.time_error_s = standard_error(times, mean);
  reached.median_time_s = median_of(times, runs);
  return reached;
}

template <class Curve>
std::optional<std::size_t> first_at(const Curve& accuracy, double threshold) {
  const auto first = std::find_if(accuracy.begin(), accuracy.end(),
                                  [&](const PositionedValue& point) { return point.value >= threshold; });
  if (first == accuracy.end()) return std::nullopt;
  return static_cast<std::size_t>(first - accuracy.begin());
}

}  // namespace

ClockRates rates_of(std::span<const TracedGroup> groups, std::uint32_t workers) {
  RateSums same;
  RateSums scaled;
  for (const TracedGroup& group : groups) {
    for (const TrainingRun& run : group.group.runs) {
      if (run.plan.workers == workers) same.add(run);
      scaled.add(run, static_cast<double>(workers) / static_cast<double>(run.plan.workers));
    }
  }
  ClockRates rates = same.rates();
  if (!rates.synchronous_s_per_step) rates.synchronous_s_per_step = scaled.rates().synchronous_s_per_step;
  if (!rates.asynchronous_s_per_step) rates.asynchronous_s_per_step = scaled.rates().asynchronous_s_per_step;
  return rates;
}

ClockRates rates_of(const TrainingRun& run) {
  RateSums sums;
  sums.add(run);
  return sums.rates();
}

std::optional<double> time_at(const TrainingPlan& plan, const ClockRates& rates, double minibatches) {
  double time = 0.0;
  for (const PlanPhase& phase : plan.phases) {
    const bool last = &phase == &plan.phases.back();
    const double here = last ? minibatches : std::min(minibatches, phase.minibatches);
    if (here <= 0.0) break;
    const std::optional<double> rate =
        phase.synchronous ? rates.synchronous_s_per_step : rates.asynchronous_s_per_step;
    if (!rate) return std::nullopt;
    time += *rate * here / (phase.synchronous ? static_cast<double>(plan.workers) : 1.0);
    minibatches -= here;
  }
  return time;
}

FittedLearner fit_learner(const FormDescription& form, std::span<const TracedGroup> groups,
                          const FitOptions& options) {
  FittedLearner learner;
  learner.form = fit_form(form, groups, options);
  learner.noise = fit_noise(learner.form, groups);
  learner.spread = fit_spread(learner.form, groups, learner.noise);
  // Again, now that it is known how the mean over runs lies to the mean run.
  FitOptions in_place = options;
  in_place.spread = learner.spread;
  learner.form = fit_form(form, groups, in_place, learner.form.values);
  learner.noise = fit_noise(learner.form, groups);
  return learner;
}

PredictedRuns predict_runs(const FittedLearner& learner, const TracedGroup& group, const ClockRates& rates,
                           int runs) {
  const TrainingPlan& plan = group.group.plan();
  const std::vector<double> positions = evaluation_positions(group.group);
  std::vector<std::optional<double>> times;
  for (const double position : positions) times.push_back(time_at(plan, rates, position));
  PredictedRuns predicted;
  for (int r = 0; r < runs; ++r) {
    const Seed seed{prediction_seed, static_cast<std::uint32_t>(r)};
    const std::vector<FormReading> readings =
        predict(learner.form, group, positions, draw_run_effects(learner.spread, seed));
    RandomStream random(seed, Purpose::learning_curve, 2);
    PredictedRun run{{}, times, time_at(plan, rates, plan.workload_minibatches()), {}};
    for (std::size_t i = 0; i < positions.size(); ++i)
      run.accuracy.push_back(
          {positions[i],
           readings[i].accuracy + random.normal(0.0, learner.noise.deviation(readings[i].fluctuation))});
    if (!std::isfinite(readings.back().loss)) run.accuracy.clear();
    predicted.runs.push_back(std::move(run));
  }
  return predicted;
}

double PredictedRuns::mean_final() const {
  double sum = 0.0;
  double count = 0.0;
  for (const PredictedRun& run : runs) {
    if (run.accuracy.empty()) continue;
    sum += run.accuracy.back().value;
    count += 1.0;
  }
  return count > 0.0 ? sum / count : 0.0;
}

std::optional<double> PredictedRuns::final_deviation() const {
  const double mean = mean_final();
  double squares = 0.0;
  double count = 0.0;
  for (const PredictedRun& run : runs) {
    if (run.accuracy.empty()) continue;
    squares += (run.accuracy.back().value - mean) * (run.accuracy.back().value - mean);
    count += 1.0;
  }
  return count > 1.0 ? std::optional(std::sqrt(squares / (count - 1.0))) : std::nullopt;
}

double PredictedRuns::diverged_share() const {
  const auto diverged =
      std::count_if(runs.begin(), runs.end(), [](const PredictedRun& run) { return run.accuracy.empty(); });
  return runs.empty() ? 0.0 : static_cast<double>(diverged) / static_cast<double>(runs.size());
}

std::optional<double> PredictedRuns::mean_accuracy_at(double minibatches) const {
  double sum = 0.0;
  double count = 0.0;
  for (const PredictedRun& run : runs) {
    const std::optional<double> value = value_at(run.accuracy, minibatches);
    if (!value) continue;
    sum += *value;
    count += 1.0;
  }
  return count > 0.0 ? std::optional(sum / count) : std::nullopt;
}

Reached reach(const PredictedRuns& predicted, double threshold) {
  std::vector<Crossing> crossings;
  for (const PredictedRun& run : predicted.runs)
    if (const std::optional<std::size_t> first = first_at(run.accuracy, threshold))
      crossings.push_back({run.accuracy[*first].minibatches, run.time_s[*first]});
  return summary_of(predicted.runs.size(), crossings);
}

Reached reach(const RunGroup& recorded, double threshold) {
  std::vector<Crossing> crossings;
  std::size_t runs = 0;
  for (const TrainingRun& run : recorded.runs) {
    if (run.accuracy.size() < least_curve) continue;
    ++runs;
    const std::optional<std::size_t> first = first_at(run.accuracy, threshold);
    if (!first) continue;
    const double minibatches = run.accuracy[*first].minibatches;
    crossings.push_back({minibatches, time_at(run.plan, rates_of(run), minibatches)});
  }
  return summary_of(runs, crossings);
}

}  // namespace paceline

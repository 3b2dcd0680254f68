#include "sim/fit/prediction.hpp"

#include <algorithm>
#include <cmath>

#include "sim/fit/spread_fit.hpp"

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

Reached mean_of(std::size_t runs, const std::vector<double>& minibatches,
                const std::vector<std::optional<double>>& times) {
  Reached reached{runs, minibatches.size(), 0.0, std::nullopt};
  if (minibatches.empty()) return reached;
  double time_sum = 0.0;
  bool timed = true;
  for (std::size_t i = 0; i < minibatches.size(); ++i) {
    reached.mean_minibatches += minibatches[i] / static_cast<double>(minibatches.size());
    timed = timed && times[i].has_value();
    time_sum += times[i].value_or(0.0);
  }
  if (timed) reached.mean_time_s = time_sum / static_cast<double>(minibatches.size());
  return reached;
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
  return learner;
}

PredictedRuns predict_runs(const FittedLearner& learner, const TracedGroup& group, int runs) {
  PredictedRuns predicted;
  predicted.positions = evaluation_positions(group.group);
  for (int r = 0; r < runs; ++r) {
    const Seed seed{prediction_seed, static_cast<std::uint32_t>(r)};
    const std::vector<FormReading> readings =
        predict(learner.form, group, predicted.positions, draw_run_effects(learner.spread, seed));
    RandomStream random(seed, Purpose::learning_curve, 2);
    std::vector<double> accuracy;
    for (const FormReading& reading : readings)
      accuracy.push_back(reading.accuracy + random.normal(0.0, learner.noise.deviation(reading.heat)));
    if (!std::isfinite(readings.back().loss)) accuracy.clear();
    predicted.accuracy.push_back(std::move(accuracy));
  }
  return predicted;
}

double PredictedRuns::mean_final() const {
  double sum = 0.0;
  double count = 0.0;
  for (const std::vector<double>& run : accuracy) {
    if (run.empty()) continue;
    sum += run.back();
    count += 1.0;
  }
  return count > 0.0 ? sum / count : 0.0;
}

double PredictedRuns::final_deviation() const {
  const double mean = mean_final();
  double squares = 0.0;
  double count = 0.0;
  for (const std::vector<double>& run : accuracy) {
    if (run.empty()) continue;
    squares += (run.back() - mean) * (run.back() - mean);
    count += 1.0;
  }
  return count > 1.0 ? std::sqrt(squares / (count - 1.0)) : 0.0;
}

double PredictedRuns::diverged_share() const {
  const auto diverged =
      std::count_if(accuracy.begin(), accuracy.end(), [](const auto& run) { return run.empty(); });
  return accuracy.empty() ? 0.0 : static_cast<double>(diverged) / static_cast<double>(accuracy.size());
}

Reached reach(const PredictedRuns& predicted, const TrainingPlan& plan, const ClockRates& rates,
              double threshold) {
  std::vector<double> minibatches;
  std::vector<std::optional<double>> times;
  for (const std::vector<double>& run : predicted.accuracy) {
    const auto first = std::find_if(run.begin(), run.end(), [&](double a) { return a >= threshold; });
    if (first == run.end()) continue;
    minibatches.push_back(predicted.positions[static_cast<std::size_t>(first - run.begin())]);
    times.push_back(time_at(plan, rates, minibatches.back()));
  }
  return mean_of(predicted.accuracy.size(), minibatches, times);
}

Reached reach(const RunGroup& recorded, double threshold) {
  std::vector<double> minibatches;
  std::vector<std::optional<double>> times;
  std::size_t runs = 0;
  for (const TrainingRun& run : recorded.runs) {
    if (run.accuracy.size() < least_curve) continue;
    ++runs;
    const auto first = std::find_if(run.accuracy.begin(), run.accuracy.end(),
                                    [&](const PositionedValue& point) { return point.value >= threshold; });
    if (first == run.accuracy.end()) continue;
    minibatches.push_back(first->minibatches);
    times.push_back(time_at(run.plan, rates_of(run), first->minibatches));
  }
  return mean_of(runs, minibatches, times);
}

}  // namespace paceline

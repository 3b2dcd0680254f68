#include "calibrate/learning/recorded_costs.hpp"

#include <algorithm>
#include <cmath>
#include <map>
#include <utility>

#include <boost/math/distributions/normal.hpp>

#include "calibrate/learning/recorded_layout.hpp"
#include "sim/base/order_statistics.hpp"

namespace paceline {
namespace {

constexpr int quadrature_points = 2000;

struct TimedPhase {
  double step_s = 0.0;  // between pauses, where the log tells
  double workers = 0.0;
  double batch_samples = 0.0;
  const PhaseTime* phase = nullptr;
};

std::vector<TimedPhase> phases_of(std::span<const RunGroup* const> groups, bool synchronous) {
  std::vector<TimedPhase> phases;
  for (const RunGroup* group : groups)
    for (const TrainingRun& run : group->runs)
      for (const PhaseTime& phase : run.phases)
        if (phase.synchronous == synchronous)
          phases.push_back({phase.seconds_between_pauses.value_or(phase.seconds_per_step),
                            static_cast<double>(run.plan.workers), run.plan.batch_samples, &phase});
  // Short phases without a log of their own hold start-up: they are used only where there is nothing else.
  const auto is_logged = [](const TimedPhase& p) { return p.phase->seconds_between_pauses.has_value(); };
  if (std::any_of(phases.begin(), phases.end(), is_logged))
    std::erase_if(phases, [&](const TimedPhase& p) { return !is_logged(p); });
  return phases;
}

template <class Value>
double median_of(const std::vector<TimedPhase>& phases, Value value) {
  std::vector<double> values;
  for (const TimedPhase& phase : phases) values.push_back(value(phase));
  return median(std::move(values));
}

std::optional<Checkpoints> checkpoints_of(const std::vector<TimedPhase>& synchronous) {
  std::vector<double> pauses;
  double samples = 0.0;
  for (const TimedPhase& timed : synchronous) {
    pauses.insert(pauses.end(), timed.phase->pauses_s.begin(), timed.phase->pauses_s.end());
    samples += timed.phase->steps * timed.workers * timed.batch_samples;
  }
  if (pauses.empty()) return std::nullopt;
  return Checkpoints{samples / static_cast<double>(pauses.size()), median(pauses)};
}

// Pooled over kinds of phases; short phases count for little because they are few.
double run_variation(const std::vector<TimedPhase>& synchronous,
                     const std::vector<TimedPhase>& asynchronous) {
  std::map<std::pair<bool, double>, std::vector<double>> steps;
  for (const TimedPhase& p : synchronous) steps[{true, p.workers}].push_back(p.step_s);
  for (const TimedPhase& p : asynchronous) steps[{false, p.workers}].push_back(p.step_s);
  double squares = 0.0;
  double degrees = 0.0;
  for (const auto& [kind, values] : steps) {
    const auto [mean, deviation] = spread_of(values);
    const auto freedom = static_cast<double>(values.size() - 1);
    squares += freedom * (deviation / mean) * (deviation / mean);
    degrees += freedom;
  }
  return degrees > 0.0 ? std::sqrt(squares / degrees) : 0.0;
}

struct WeightedStep {
  double seconds = 0.0;
  double weight = 0.0;
};

// The value below which half of the weight lies; between two values, if half lies below either.
std::optional<double> weighted_median(std::vector<WeightedStep> steps) {
  std::ranges::sort(steps, {}, &WeightedStep::seconds);
  double half = 0.0;
  for (const WeightedStep& step : steps) half += 0.5 * step.weight;
  double below = 0.0;
  for (std::size_t i = 0; i < steps.size(); ++i) {
    below += steps[i].weight;
    if (below == half && i + 1 < steps.size()) return 0.5 * (steps[i].seconds + steps[i + 1].seconds);
    if (below >= half) return steps[i].seconds;
  }
  return std::nullopt;
}

}  // namespace

double expected_largest(std::uint32_t n, double cv) {
  if (cv <= 0.0) return 1.0;
  const double sigma = std::sqrt(std::log(1.0 + cv * cv));
  const boost::math::normal_distribution<double> standard;
  double sum = 0.0;
  for (int i = 0; i < quadrature_points; ++i) {
    const double u = std::pow((i + 0.5) / quadrature_points, 1.0 / n);
    sum += std::exp(sigma * boost::math::quantile(standard, u) - 0.5 * sigma * sigma);
  }
  return sum / quadrature_points;
}

std::optional<RecordedCosts> recorded_costs(std::span<const RunGroup* const> groups) {
  const std::vector<TimedPhase> synchronous = phases_of(groups, true);
  const std::vector<TimedPhase> asynchronous = phases_of(groups, false);
  if (synchronous.empty() && asynchronous.empty()) return std::nullopt;
  RecordedCosts costs;
  costs.iteration_cv = iteration_variation;
  costs.run_cv = run_variation(synchronous, asynchronous);
  const auto slowest = [&](const TimedPhase& p) {
    return expected_largest(static_cast<std::uint32_t>(p.workers), costs.iteration_cv);
  };
  costs.iteration_s = asynchronous.empty()
                          ? median_of(synchronous, [&](const TimedPhase& p) { return p.step_s / slowest(p); })
                          : median_of(asynchronous, [](const TimedPhase& p) { return p.workers * p.step_s; });
  if (synchronous.empty()) return costs;
  costs.serial_per_worker_s = median_of(synchronous, [&](const TimedPhase& p) {
    return std::max(0.0, (p.step_s - costs.iteration_s * slowest(p)) / p.workers);
  });
  costs.checkpoints = checkpoints_of(synchronous);
  return costs;
}

ClockRates rates_of(const RecordedCosts& costs, std::uint32_t workers, double batch_samples) {
  const double pause_s = costs.checkpoints ? costs.checkpoints->pause_s * batch_samples /
                                                 std::max(1.0, costs.checkpoints->every_samples)
                                           : 0.0;  // for each mini-batch
  const auto n = static_cast<double>(workers);
  ClockRates rates;
  rates.asynchronous_s_per_step = (costs.iteration_s + pause_s) / n;
  if (costs.serial_per_worker_s)
    rates.synchronous_s_per_step = costs.iteration_s * expected_largest(workers, costs.iteration_cv) +
                                   n * (*costs.serial_per_worker_s + pause_s);
  return rates;
}

ClockRates typical_rates(std::span<const RunGroup* const> groups, std::uint32_t workers) {
  std::vector<WeightedStep> synchronous;
  std::vector<WeightedStep> asynchronous;
  for (const RunGroup* group : groups) {
    if (group->plan().delayed_workers > 0) continue;
    for (const TrainingRun& run : group->runs) {
      const double ratio = static_cast<double>(workers) / static_cast<double>(run.plan.workers);
      for (const PhaseTime& phase : run.phases) {
        if (phase.synchronous)
          synchronous.push_back({phase.seconds_per_step * ratio, phase.steps * run.plan.workers});
        else
          asynchronous.push_back({phase.seconds_per_step / ratio, phase.steps});
      }
    }
  }
  ClockRates rates{weighted_median(std::move(synchronous)), weighted_median(std::move(asynchronous))};
  std::vector<double> left;
  for (const RunGroup* group : groups)
    for (const TrainingRun& run : group->runs)
      if (run.plan.delayed_workers == 0 && run.plan.workers == workers)
        if (const std::optional<double> rest = unexplained_s(run, rates)) left.push_back(*rest);
  if (!left.empty()) rates.to_asynchronous_s = std::max(0.0, median(std::move(left)));
  return rates;
}

std::optional<RecordedCosts> undelayed_costs(std::vector<const RunGroup*> groups) {
  std::erase_if(groups, [](const RunGroup* group) { return group->plan().delayed_workers > 0; });
  return recorded_costs(groups);
}

void set_chief_pauses(std::vector<RunGroup>& groups, std::span<const RunGroup> measured) {
  std::vector<const RunGroup*> all;
  for (const RunGroup& group : measured) all.push_back(&group);
  const std::optional<RecordedCosts> costs = undelayed_costs(all);
  if (!costs || !costs->checkpoints) return;
  for (RunGroup& group : groups)
    for (TrainingRun& run : group.runs)
      run.plan.chief_pauses = {costs->checkpoints->every_samples / run.plan.batch_samples,
                               costs->checkpoints->pause_s / costs->iteration_s};
}

std::vector<TracedGroup> trace_groups(std::vector<RunGroup> groups, std::span<const RunGroup> measured) {
  set_chief_pauses(groups, measured);
  return trace_groups(groups);
}

std::optional<double> recorded_delay_s(std::span<const RunGroup* const> groups,
                                       std::optional<double> added_latency_s) {
  const auto is_wanted = [](const RunGroup& group, int delayed) {
    const TrainingPlan& plan = group.plan();
    return plan.phases.size() == 1 && !plan.phases.front().synchronous && plan.delayed_workers == delayed;
  };
  const auto find = [&](const auto& is_right) {
    const auto found = std::ranges::find_if(groups, [&](const RunGroup* group) { return is_right(*group); });
    return found == groups.end() ? nullptr : *found;
  };
  const RunGroup* delayed = find([&](const RunGroup& group) {
    return is_wanted(group, 1) && group.plan().added_latency_s == added_latency_s;
  });
  if (delayed == nullptr) delayed = find([&](const RunGroup& group) { return is_wanted(group, 1); });
  if (delayed == nullptr) return std::nullopt;
  const RunGroup* plain = find([&](const RunGroup& group) {
    return is_wanted(group, 0) && setup_of(group.name) == setup_of(delayed->name);
  });
  if (plain == nullptr) return std::nullopt;
  const auto step = [](const RunGroup& group) {
    const RunGroup* const one = &group;
    return median_of(phases_of({&one, 1}, false), [](const TimedPhase& p) { return p.step_s; });
  };
  const auto workers = static_cast<double>(plain->plan().workers);
  const double iteration = workers * step(*plain);
  const double delayed_rate = 1.0 / step(*delayed) - (workers - 1.0) / iteration;
  if (delayed_rate <= 0.0) return std::nullopt;
  const std::optional<double>& measured_s = delayed->plan().added_latency_s;
  const double scale = measured_s && added_latency_s ? *added_latency_s / *measured_s : 1.0;
  return scale * std::max(0.0, 1.0 / delayed_rate - iteration);
}

}  // namespace paceline

// How runs differ and single evaluations scatter, from runs made to differ by known amounts.
#include <algorithm>
#include <cmath>
#include <vector>

#include <doctest/doctest.h>

#include "tests/calibrate/learning/made_runs.hpp"

using namespace paceline;
using test::known_form;
using test::made_by;

namespace {

const std::vector<PlanPhase> synchronous{{true, 4000.0}};
const std::vector<PlanPhase> asynchronous{{false, 4000.0}};
constexpr double workload = 4000.0;
constexpr double drop = 2000.0;

// Evaluations alternately above and below the mean run: neighbours differ by twice as much.
void alternate(TrainingRun& run, double before_drop, double after_drop) {
  for (std::size_t i = 0; i < run.accuracy.size(); ++i) {
    PositionedValue& point = run.accuracy[i];
    const double by = point.minibatches <= drop ? before_drop : after_drop;
    point.value += i % 2 == 0 ? by : -by;
  }
}

// The mean of the form's fluctuation at evaluations whose predecessor is settled and that the drop does not
// part.
double mean_fluctuation(const FittedForm& form, const TracedGroup& group) {
  const std::vector<double> positions = positions_of(group.group.runs.front().accuracy);
  const std::vector<FormReading> readings = predict(form, group, positions);
  double sum = 0.0;
  double count = 0.0;
  for (std::size_t i = 1; i < positions.size(); ++i)
    if (positions[i - 1] >= 0.2 * workload && positions[i] <= drop) {
      sum += readings[i].fluctuation;
      count += 1.0;
    }
  return sum / count;
}

// By how much an accuracy moves for each unit of an effect's logarithm, from a tenth of it.
std::vector<double> slopes(const FittedForm& form, const TracedGroup& group, const RunEffects& tenth) {
  const std::vector<double> positions = positions_of(group.group.runs.front().accuracy);
  const std::vector<FormReading> mean = predict(form, group, positions);
  const std::vector<FormReading> moved = predict(form, group, positions, tenth);
  std::vector<double> all;
  for (std::size_t i = 0; i < positions.size(); ++i)
    all.push_back((moved[i].accuracy - mean[i].accuracy) / 0.1);
  return all;
}
const RunEffects faster{.speed_factor = std::exp(0.1)};
const RunEffects noisier{.noise_factor = std::exp(0.1)};

double sum_of_squares(const std::vector<double>& slopes, const TracedGroup& group, double from,
                      double until) {
  double sum = 0.0;
  for (std::size_t i = 0; i < slopes.size(); ++i) {
    const double at = group.group.runs.front().accuracy[i].minibatches;
    if (at >= from && at <= until) sum += slopes[i] * slopes[i];
  }
  return sum;
}

// As many runs as shifts of ln(speed), each exactly what a shift makes of the mean run to first order.
TracedGroup shifted(const FittedForm& form, const std::string& name, const std::vector<PlanPhase>& phases,
                    const std::vector<double>& shifts, const std::vector<double>& finals) {
  TracedGroup group = trace_groups({made_by(form, name, phases)}).front();
  const std::vector<double> slope = slopes(form, group, faster);
  const TrainingRun mean = group.group.runs.front();
  group.group.runs.clear();
  for (std::size_t r = 0; r < shifts.size(); ++r) {
    TrainingRun run = mean;
    for (std::size_t i = 0; i < run.accuracy.size(); ++i) run.accuracy[i].value += shifts[r] * slope[i];
    run.final_accuracy += finals[r];
    group.group.runs.push_back(run);
  }
  return group;
}

// What staleness takes from the accuracy in the end.
double taken_by_staleness(const FittedForm& form, const TracedGroup& group) {
  const std::vector<double> end{workload};
  return predict(form, group, end, {.penalty_factor = 0.0}).front().accuracy -
         predict(form, group, end).front().accuracy;
}

}  // namespace

TEST_CASE("noise is half the mean squared difference of neighbours beyond the mean run's") {
  // ± d alternately: ½ (2 d)² = 2 d². Before the drop at the form's mean fluctuation, after it the least.
  const FittedForm truth = known_form();
  RunGroup made = made_by(truth, "bsp", synchronous);
  alternate(made.runs.front(), 0.02, 0.003);
  const std::vector<TracedGroup> groups = trace_groups({made});
  const EvaluationNoise noise = fit_noise(truth, groups);
  CHECK(noise.exponent == 1.0);
  CHECK(noise.scale == doctest::Approx(std::sqrt(2.0) * 0.02 / mean_fluctuation(truth, groups[0])));
  CHECK(noise.least == doctest::Approx(std::sqrt(2.0) * 0.003));
}

TEST_CASE("early learning is no noise, nor is what follows the drop within a tenth of the workload") {
  const FittedForm truth = known_form();
  RunGroup made = made_by(truth, "bsp", synchronous);
  alternate(made.runs.front(), 0.02, 0.003);
  RunGroup disturbed = made;
  for (PositionedValue& point : disturbed.runs.front().accuracy)
    if (point.minibatches < 0.2 * workload || (point.minibatches > drop && point.minibatches < drop + 400.0))
      point.value = 0.5;
  const EvaluationNoise clean = fit_noise(truth, trace_groups({made}));
  const EvaluationNoise noise = fit_noise(truth, trace_groups({disturbed}));
  CHECK(noise.scale == doctest::Approx(clean.scale));
  CHECK(noise.least == doctest::Approx(clean.least));
  // Nothing in the stretches that tell: no scale, and nothing at least.
  disturbed.runs.front().accuracy.resize(5);
  const EvaluationNoise none = fit_noise(truth, trace_groups({disturbed}));
  CHECK(none.scale == 0.0);
  CHECK(none.exponent == 1.0);
  CHECK(none.least == 0.0);
}

TEST_CASE("noise grows with the fluctuation as the groups' logarithms do, by a power between 1 and 2.5") {
  // Half the rate: less than half the fluctuation. Deviations ~ fluctuation^power in both groups.
  const FittedForm truth = known_form();
  const std::vector<RunGroup> made{made_by(truth, "bsp", synchronous),
                                   made_by(truth, "bsp-slow", synchronous, 0.05)};
  const std::vector<TracedGroup> plain = trace_groups(made);
  const double high = mean_fluctuation(truth, plain[0]);
  const double low = mean_fluctuation(truth, plain[1]);
  REQUIRE(high > 1.5 * low);
  const auto fitted = [&](double power, std::size_t runs_of_second) {
    std::vector<RunGroup> groups = made;
    alternate(groups[0].runs.front(), 0.01, 0.0);
    alternate(groups[1].runs.front(), 0.01 * std::pow(low / high, power), 0.0);
    groups[1].runs.resize(runs_of_second, groups[1].runs.front());
    return fit_noise(truth, trace_groups(groups));
  };
  const double of_high = std::sqrt(2.0) * 0.01;
  const EvaluationNoise between = fitted(1.7, 1);
  CHECK(between.exponent == doctest::Approx(1.7));
  CHECK(between.scale * std::pow(high, 1.7) == doctest::Approx(of_high));
  // Both the same: the power is 1, and the line goes through the mean of the logarithms, by evaluations.
  const EvaluationNoise flat = fitted(0.0, 3);
  CHECK(flat.exponent == 1.0);
  CHECK(flat.scale == doctest::Approx(of_high / std::exp(0.25 * std::log(high) + 0.75 * std::log(low))));
  CHECK(fitted(4.0, 1).exponent == 2.5);
}

TEST_CASE("fluctuations that hardly differ do not tell how noise depends on them") {
  const FittedForm truth = known_form();
  std::vector<RunGroup> groups{made_by(truth, "bsp", synchronous),
                               made_by(truth, "bsp-slower", synchronous, 0.09)};
  alternate(groups[0].runs.front(), 0.02, 0.0);
  alternate(groups[1].runs.front(), 0.01, 0.0);
  const std::vector<TracedGroup> traced = trace_groups(groups);
  REQUIRE(mean_fluctuation(truth, traced[0]) < 1.5 * mean_fluctuation(truth, traced[1]));
  CHECK(fit_noise(truth, traced).exponent == 1.0);
}

TEST_CASE("a run's shift of speed explains its first 30 %, that of noise what follows 20 % until the drop") {
  const FittedForm truth = known_form();
  const TracedGroup group = trace_groups({made_by(truth, "asp", asynchronous)}).front();
  const EvaluationNoise noise{0.0, 1.0, 0.01};
  for (const bool speed : {true, false}) {
    INFO(speed);
    const std::vector<double> slope = slopes(truth, group, speed ? faster : noisier);
    const double from = speed ? 0.0 : 0.2 * workload;
    const double until = speed ? 0.3 * workload : drop;
    TrainingRun run = group.group.runs.front();
    // Moved by 0.25 of the slope there, by anything elsewhere.
    for (std::size_t i = 0; i < run.accuracy.size(); ++i) {
      PositionedValue& point = run.accuracy[i];
      if (point.minibatches >= from && point.minibatches <= until)
        point.value += 0.25 * slope[i];
      else
        point.value = 0.0;
    }
    const auto found = speed ? speed_shift(truth, group, run, noise) : noise_shift(truth, group, run, noise);
    REQUIRE(found.has_value());
    CHECK(found->shift == doctest::Approx(0.25));
    // Least squares with independent errors of 0.01: 0.01² / Σ slope².
    CHECK(found->noise_variance == doctest::Approx(1e-4 / sum_of_squares(slope, group, from, until)));
    // Without an evaluation there is nothing to explain.
    run.accuracy.clear();
    CHECK_FALSE(
        (speed ? speed_shift(truth, group, run, noise) : noise_shift(truth, group, run, noise)).has_value());
  }
}

TEST_CASE(
    "speeds spread as the shifts do, less what evaluation noise alone would give, and at most by half") {
  const FittedForm truth = known_form();
  const std::vector<double> alike{0.0, 0.0, 0.0};
  // Shifts of -0.2, 0, 0.2: sd 0.2.
  const std::vector<TracedGroup> groups{shifted(truth, "bsp", synchronous, {-0.2, 0.0, 0.2}, alike)};
  CHECK(fit_spread(truth, groups, {}).speed == doctest::Approx(0.2));
  const double squares = sum_of_squares(slopes(truth, groups[0], faster), groups[0], 0.0, 0.3 * workload);
  const double deviation = 0.1 * std::sqrt(squares);  // gives a shift a deviation of 0.1
  CHECK(fit_spread(truth, groups, {0.0, 1.0, deviation}).speed == doctest::Approx(std::sqrt(0.04 - 0.01)));
  CHECK(fit_spread(truth, groups, {0.0, 1.0, 3.0 * deviation}).speed == 0.0);
  // Pooled by degrees of freedom: 2 with sd 0.2, 1 with sd 0.3 · √2; a single run tells nothing.
  const std::vector<TracedGroup> pooled{groups[0],
                                        shifted(truth, "asp", asynchronous, {-0.3, 0.3}, {0.0, 0.0}),
                                        shifted(truth, "asp-once", asynchronous, {0.4}, {0.0})};
  CHECK(fit_spread(truth, pooled, {}).speed == doctest::Approx(std::sqrt((2.0 * 0.04 + 0.18) / 3.0)));
  const std::vector<TracedGroup> wide{shifted(truth, "bsp", synchronous, {-2.0, 0.0, 2.0}, alike)};
  CHECK(fit_spread(truth, wide, {}).speed == 0.5);
  const std::vector<TracedGroup> single{shifted(truth, "bsp", synchronous, {0.4}, {0.0})};
  CHECK(fit_spread(truth, single, {}).speed == 0.0);
}

TEST_CASE("final accuracies differ by the ceiling, and where staleness takes much by what it takes") {
  // variance = ceiling² + (penalty · D)²: without staleness D is 0.
  const FittedForm truth = known_form();
  const auto groups = [&](double of_bsp, double of_asp) {
    // ± x of two runs: sd √2 x.
    const double b = of_bsp / std::sqrt(2.0);
    const double a = of_asp / std::sqrt(2.0);
    return std::vector<TracedGroup>{shifted(truth, "bsp", synchronous, {0.0, 0.0}, {-b, b}),
                                    shifted(truth, "asp", asynchronous, {0.0, 0.0}, {-a, a})};
  };
  const double taken = taken_by_staleness(truth, groups(0.0, 0.0)[1]);
  REQUIRE(taken > 0.01);
  const RunSpread both = fit_spread(truth, groups(0.01, std::hypot(0.01, 0.5 * taken)), {});
  CHECK(both.ceiling == doctest::Approx(0.01));
  CHECK(both.staleness_penalty == doctest::Approx(0.5));
  CHECK(both.speed == 0.0);
  // No scatter without staleness: the ceiling has none.
  const RunSpread penalty = fit_spread(truth, groups(0.0, 0.5 * taken), {});
  CHECK(penalty.ceiling == doctest::Approx(0.0));
  CHECK(penalty.staleness_penalty == doctest::Approx(0.5));
  // Less scatter with staleness than without: it is the ceiling's, the mean variance by degrees of freedom.
  std::vector<TracedGroup> less = groups(0.02, 0.01);
  const double third = 0.01;  // ± 0.01 and 0: sd 0.01 of three runs
  less[1] = shifted(truth, "asp", asynchronous, {0.0, 0.0, 0.0}, {-third, 0.0, third});
  const RunSpread ceiling = fit_spread(truth, less, {});
  CHECK(ceiling.staleness_penalty == 0.0);
  CHECK(ceiling.ceiling == doctest::Approx(std::sqrt((0.0004 + 2.0 * 0.0001) / 3.0)));
  // The penalty varies by no more than itself; the rest is the ceiling's.
  const RunSpread most = fit_spread(truth, groups(0.01, 3.0 * taken), {});
  CHECK(most.staleness_penalty == 1.0);
  CHECK(most.ceiling > 0.0101);
}

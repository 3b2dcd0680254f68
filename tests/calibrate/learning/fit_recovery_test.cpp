#include <cmath>
#include <vector>

#include <boost/math/distributions/normal.hpp>
#include <doctest/doctest.h>

#include "calibrate/learning/held_out.hpp"
#include "tests/calibrate/learning/made_runs.hpp"

using namespace paceline;
using test::known_form;
using test::made_by;

TEST_CASE("a fit to runs the form made predicts a policy it has not seen") {
  const FittedForm truth = known_form();
  const std::vector<TracedGroup> seen =
      trace_groups({made_by(truth, "bsp", {{true, 4000.0}}), made_by(truth, "asp", {{false, 4000.0}}),
                    made_by(truth, "bsp05", {{true, 200.0}, {false, 3800.0}})});
  const std::vector<TracedGroup> unseen =
      trace_groups({made_by(truth, "bsp10", {{true, 400.0}, {false, 3600.0}}),
                    made_by(truth, "asp50", {{false, 2000.0}, {true, 2000.0}})});
  const FittedForm fitted = fit_form(*truth.form, seen, {});
  for (const TracedGroup& group : unseen) {
    INFO(group.group.name);
    const std::vector<double> end{4000.0};
    CHECK(predict(fitted, group, end)[0].accuracy ==
          doctest::Approx(group.group.mean_final_accuracy()).epsilon(0.004));
  }
  REQUIRE(fitted.form->parameters[0].name == "ceiling");
  CHECK(fitted.values[0] == doctest::Approx(0.85).epsilon(0.01));
}

TEST_CASE("the drift that slowed runs with local steps is found again, and predicts other numbers of steps") {
  FittedForm truth = known_form();
  REQUIRE(truth.form->parameters.back().name == "drift");
  truth.values.back() = 0.02;
  const auto local = [](std::uint32_t steps) { return std::vector<PlanPhase>{{true, 4000.0, steps}}; };
  const std::vector<TracedGroup> seen = trace_groups(
      {made_by(truth, "1", local(1)), made_by(truth, "4", local(4)), made_by(truth, "64", local(64))});
  const FittedForm fitted = fit_form(*truth.form, seen, {});
  CHECK(fitted.values.back() == doctest::Approx(0.02).epsilon(0.2));
  const TracedGroup unseen = trace_groups({made_by(truth, "16", local(16))}).front();
  const std::vector<double> middle{600.0};
  CHECK(predict(fitted, unseen, middle)[0].accuracy ==
        doctest::Approx(*mean_accuracy_at(unseen.group.runs, 600.0)).epsilon(0.03));
}

namespace {

constexpr double speed_spread = 0.4;
constexpr int runs_of_a_group = 41;

// Draws in the middle of parts of equal probability: what they differ in has the mean and nearly the spread
// asked for.
RunEffects effects_of_run(int run) {
  const boost::math::normal_distribution<double> normal;
  return run_effects({0.0, 0.0, speed_spread}, 0.0,
                     boost::math::quantile(normal, (run + 0.5) / runs_of_a_group));
}

// Runs the form itself made that learn at different speeds.
RunGroup scattered(const FittedForm& truth, const std::string& name, const std::vector<PlanPhase>& phases) {
  RunGroup group = made_by(truth, name, phases);
  const TrainingRun mean_run = group.runs.front();
  const TracedGroup traced = trace_groups({group}).front();
  group.runs.assign(runs_of_a_group, mean_run);
  std::vector<double> positions;
  for (const PositionedValue& point : mean_run.accuracy) positions.push_back(point.minibatches);
  for (int r = 0; r < runs_of_a_group; ++r) {
    TrainingRun& run = group.runs[static_cast<std::size_t>(r)];
    const std::vector<FormReading> readings = predict(truth, traced, positions, effects_of_run(r));
    for (std::size_t i = 0; i < positions.size(); ++i) run.accuracy[i].value = readings[i].accuracy;
    run.final_accuracy = readings.back().accuracy;
  }
  return group;
}

}  // namespace

TEST_CASE("the mean over runs of a fitted learner, not its mean run, lies at the mean of the runs fitted") {
  const FittedForm truth = known_form();
  const std::vector<TracedGroup> groups =
      trace_groups({scattered(truth, "bsp", {{true, 4000.0}}), scattered(truth, "asp", {{false, 4000.0}})});
  const FittedLearner learner = fit_learner(*truth.form, groups, {});
  CHECK(learner.spread.speed == doctest::Approx(speed_spread).epsilon(0.25));
  for (const TracedGroup& group : groups) {
    INFO(group.group.name);
    const std::vector<double> positions{250.0, 500.0, 1000.0, 4000.0};
    std::vector<double> mean_over_runs(positions.size(), 0.0);
    for (int r = 0; r < runs_of_a_group; ++r) {
      const std::vector<FormReading> run = predict(learner.form, group, positions, effects_of_run(r));
      for (std::size_t i = 0; i < positions.size(); ++i)
        mean_over_runs[i] += run[i].accuracy / runs_of_a_group;
    }
    for (std::size_t i = 0; i < positions.size(); ++i) {
      INFO(positions[i]);
      CHECK(std::abs(mean_over_runs[i] - *mean_accuracy_at(group.group.runs, positions[i])) < 0.006);
    }
  }
}

TEST_CASE("runs that learn at different speeds are not taken to end at different ceilings") {
  // Over 4,000 mini-batches all catch up; after 700 the slow ones have not, and how far they lie below is far
  // from linear in the speed. Both groups scatter by speed alone.
  const FittedForm truth = known_form();
  const std::vector<TracedGroup> groups =
      trace_groups({scattered(truth, "long", {{true, 4000.0}}), scattered(truth, "short", {{true, 700.0}})});
  const double short_deviation = *groups.back().group.final_accuracy_deviation();
  REQUIRE(short_deviation > 0.05);
  const RunSpread spread = fit_spread(truth, groups, {});
  CHECK(spread.speed == doctest::Approx(speed_spread).epsilon(0.25));
  CHECK(spread.ceiling < 0.1 * short_deviation);
}

TEST_CASE("mean errors count a policy once, however many groups it has") {
  const auto row = [](const char* group, std::size_t runs, double predicted, double recorded) {
    HeldOutRow made;
    made.group = group;
    made.runs = runs;
    made.predicted = predicted;
    made.recorded = recorded;
    return made;
  };
  // policy a: (4 · 0.02 + 1 · -0.03) / 5 = 0.01; policy b: -0.03; mean of |.| = 0.02
  const std::vector<HeldOutRow> rows{row("s/a (x)", 4, 0.92, 0.90), row("s/a", 1, 0.87, 0.90),
                                     row("s/b", 3, 0.87, 0.90)};
  CHECK(*mean_error(rows, HeldOutQuantity::final_accuracy) == doctest::Approx(0.02));
}

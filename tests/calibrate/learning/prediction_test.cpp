// What many runs say about a threshold, by hand.
#include "calibrate/learning/prediction.hpp"

#include <cmath>
#include <vector>

#include <doctest/doctest.h>

using namespace paceline;

namespace {

// Evaluated at 100 and 200 mini-batches, after 10 and 20 s.
PredictedRun run_of(double first, double second) {
  return {{{100.0, first}, {200.0, second}}, {10.0, 20.0}, 25.0, {}};
}

}  // namespace

TEST_CASE("time to accuracy: mean and standard deviation of the runs that reach it, median of all") {
  const PredictedRuns four{{run_of(0.9, 0.9), run_of(0.5, 0.9), run_of(0.5, 0.9), run_of(0.5, 0.6)}};
  const Reached reached = reach(four, 0.8);
  CHECK(reached.runs == 4);
  CHECK(reached.reached == 3);
  CHECK(*reached.mean_time_s == doctest::Approx(50.0 / 3.0));
  // 10, 20, 20 lie 6.67, 3.33 and 3.33 from their mean: sd² = 66.7 / 2
  CHECK(*reached.time_sd_s == doctest::Approx(std::sqrt(100.0 / 3.0)));
  CHECK(*reached.median_time_s == doctest::Approx(20.0));  // of 10, 20, 20, never
}

TEST_CASE("half of the runs never reaching it, there is no median") {
  const PredictedRuns two{{run_of(0.9, 0.9), run_of(0.5, 0.6)}};
  CHECK_FALSE(reach(two, 0.8).median_time_s.has_value());
  CHECK_FALSE(reach(two, 0.8).time_sd_s.has_value());
  CHECK(*reach(two, 0.8).mean_time_s == 10.0);
}

TEST_CASE("a run that diverged has no accuracy and reaches nothing") {
  const PredictedRuns runs{{run_of(0.9, 0.7), PredictedRun{}}};
  CHECK(runs.diverged_share() == 0.5);
  CHECK(runs.mean_final() == 0.7);
  CHECK(*mean_accuracy_at(runs.runs, 150.0) == doctest::Approx(0.8));
  CHECK_FALSE(mean_accuracy_at(runs.runs, 300.0).has_value());
  CHECK(reach(runs, 0.8).reached == 1);
}

TEST_CASE("of an odd number of runs the median is the middle one, while it is reached") {
  const PredictedRuns three{{run_of(0.9, 0.9), run_of(0.5, 0.9), run_of(0.5, 0.6)}};
  CHECK(*reach(three, 0.8).median_time_s == 20.0);  // of 10, 20, never
  const PredictedRuns one_of_three{{run_of(0.9, 0.9), run_of(0.5, 0.6), run_of(0.5, 0.6)}};
  CHECK_FALSE(reach(one_of_three, 0.8).median_time_s.has_value());
  // At the threshold is reached; of an even number the middle is between two times.
  const PredictedRuns two{{run_of(0.8, 0.9), run_of(0.5, 0.8)}};
  CHECK(*reach(two, 0.8).median_time_s == 15.0);
}

TEST_CASE("a time that is unknown for one run leaves the threshold without times, not without its count") {
  PredictedRuns runs{{run_of(0.9, 0.9), run_of(0.9, 0.9)}};
  runs.runs[1].time_s = {std::nullopt, std::nullopt};
  const Reached reached = reach(runs, 0.8);
  CHECK(reached.reached == 2);
  CHECK_FALSE(reached.mean_time_s.has_value());
}

TEST_CASE("no runs have no mean, and none of them has diverged") {
  const PredictedRuns none;
  CHECK(none.diverged_share() == 0.0);
  CHECK_FALSE(none.final_deviation().has_value());
  CHECK(*PredictedRuns{{run_of(0.9, 0.7), run_of(0.9, 0.9)}}.final_deviation() ==
        doctest::Approx(std::sqrt(0.02)));
}

namespace {

// 100 mini-batches of 4 workers at once, then 300 one by one.
TrainingPlan hybrid() {
  TrainingPlan plan;
  plan.workers = 4;
  plan.phases = {{true, 100.0}, {false, 300.0}};
  return plan;
}

}  // namespace

TEST_CASE("time is steps times their seconds, phase by phase, and once what turning asynchronous takes") {
  const ClockRates rates{0.4, 0.1, 7.0};
  CHECK(*time_at(hybrid(), rates, 0.0) == 0.0);
  CHECK(*time_at(hybrid(), rates, 60.0) == doctest::Approx(60.0 / 4.0 * 0.4));
  CHECK(*time_at(hybrid(), rates, 100.0) == doctest::Approx(10.0));
  CHECK(*time_at(hybrid(), rates, 200.0) == doctest::Approx(10.0 + 7.0 + 10.0));
  // The last phase goes on beyond its end.
  CHECK(*time_at(hybrid(), rates, 500.0) == doctest::Approx(10.0 + 7.0 + 40.0));
  TrainingPlan turned = hybrid();
  turned.phases = {{false, 300.0}, {true, 100.0}};
  CHECK(*time_at(turned, rates, 400.0) == doctest::Approx(30.0 + 10.0));
  // A rate is missed only where it is needed.
  const ClockRates synchronous{0.4, std::nullopt, 0.0};
  CHECK(*time_at(hybrid(), synchronous, 100.0) == doctest::Approx(10.0));
  CHECK_FALSE(time_at(hybrid(), synchronous, 101.0).has_value());
  CHECK_FALSE(time_at(hybrid(), {std::nullopt, 0.1, 0.0}, 1.0).has_value());
}

TEST_CASE("rates are all seconds over all steps of a protocol") {
  // 10 steps of 1 s and 30 of 2 s; 5 of 0.1 s.
  const std::vector<PhaseTime> phases{{true, 10.0, 1.0}, {false, 5.0, 0.1}, {true, 30.0, 2.0}};
  const ClockRates rates = rates_of(phases);
  CHECK(*rates.synchronous_s_per_step == doctest::Approx(70.0 / 40.0));
  CHECK(*rates.asynchronous_s_per_step == doctest::Approx(0.1));
  CHECK_FALSE(rates_of(std::vector<PhaseTime>{{false, 5.0, 0.1}}).synchronous_s_per_step.has_value());
  CHECK_FALSE(rates_of(std::vector<PhaseTime>{{true, 5.0, 0.1}}).asynchronous_s_per_step.has_value());
}

TEST_CASE("what the steps leave of a recorded time is known of jobs that turn asynchronous") {
  TrainingRun run;
  run.plan = hybrid();
  const ClockRates rates{0.4, 0.1};
  CHECK_FALSE(unexplained_s(run, rates).has_value());
  // 25 · 0.4 + 300 · 0.1 = 40 s; until 300 mini-batches are done 30 s.
  run.training_time_s = 46.0;
  CHECK(*unexplained_s(run, rates) == doctest::Approx(6.0));
  run.timed_minibatches = 300.0;
  CHECK(*unexplained_s(run, rates) == doctest::Approx(16.0));
  CHECK_FALSE(unexplained_s(run, {0.4, std::nullopt}).has_value());
  run.plan.phases = {{false, 300.0}, {true, 100.0}};
  CHECK_FALSE(unexplained_s(run, rates).has_value());
}

TEST_CASE("a recorded curve is timed by its run's own steps, and by what they leave") {
  // 25 steps of 0.4 s, 300 of 0.1 s, and 6 s more: evaluations at 100, 200 and 400 mini-batches.
  TrainingRun run;
  run.plan = hybrid();
  run.phases = {{true, 25.0, 0.4}, {false, 300.0, 0.1}};
  run.accuracy = {{100.0, 0.3}, {200.0, 0.5}, {400.0, 0.7}};
  run.training_time_s = 46.0;
  TrainingRun shorter = run;
  shorter.training_time_s = 39.0;
  TrainingRun without_curve = run;
  without_curve.accuracy.pop_back();
  const PredictedRuns curves = recorded_curves({"hybrid", {run, without_curve, shorter}});
  REQUIRE(curves.runs.size() == 2);
  REQUIRE(curves.runs[0].time_s.size() == 3);
  CHECK(*curves.runs[0].time_s[0] == doctest::Approx(10.0));
  CHECK(*curves.runs[0].time_s[1] == doctest::Approx(26.0));
  CHECK(*curves.runs[0].time_s[2] == doctest::Approx(46.0));
  CHECK(*curves.runs[0].total_time_s == 46.0);
  // Shorter than its steps say: nothing is taken off.
  CHECK(*curves.runs[1].time_s[2] == doctest::Approx(40.0));
}

TEST_CASE("rates come from jobs of as many workers, else from all, scaled") {
  const auto job = [](std::uint32_t workers, bool synchronous, double step_s) {
    TrainingRun run;
    run.plan.workers = workers;
    run.plan.phases = {{synchronous, 100.0}};
    run.phases = {{synchronous, 10.0, step_s}};
    return TracedGroup{{"net/some", {run}}, nullptr};
  };
  const std::vector<TracedGroup> groups{job(4, true, 1.0), job(8, true, 3.0), job(8, false, 0.1)};
  CHECK(*rates_of(groups, 4).synchronous_s_per_step == doctest::Approx(1.0));
  CHECK(*rates_of(groups, 8).synchronous_s_per_step == doctest::Approx(3.0));
  CHECK(*rates_of(groups, 4).asynchronous_s_per_step == doctest::Approx(0.2));
  // For 16: 4 times 1 s and twice 3 s, on average 5 s; half of 0.1 s.
  CHECK(*rates_of(groups, 16).synchronous_s_per_step == doctest::Approx(5.0));
  CHECK(*rates_of(groups, 16).asynchronous_s_per_step == doctest::Approx(0.05));
}

// What many runs say about a threshold, by hand.
#include "calibrate/learning/prediction.hpp"

#include <cmath>

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

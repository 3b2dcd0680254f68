#include <cmath>

#include <doctest/doctest.h>

#include "sim/policy/batching/observed_curve.hpp"
#include "tests/policy/allocations.hpp"

using namespace paceline;
using paceline::test::same_bounds;
using paceline::test::sum;

TEST_CASE("times in proportion to batches: the division by throughputs") {
  const std::vector<TimeNearBatch> workers{{32, 1.7}, {20, 0.4}, {57, 3.1}, {19, 1.0}};
  std::vector<double> throughputs;
  for (const TimeNearBatch& worker : workers) throughputs.push_back(worker.samples / worker.time_s);
  for (const std::int64_t highest : {1000, 40}) {
    const std::vector<BatchBounds> bounds = same_bounds(4, 4, highest);
    const Allocation one = equal_times(128, workers, bounds);
    const Allocation other = apportion(128, throughputs, bounds);
    CHECK(batches_of(one) == batches_of(other));
    for (std::size_t k = 0; k < 4; ++k) {
      CHECK(one[k].wanted_samples == doctest::Approx(other[k].wanted_samples));
      CHECK(one[k].limited_by == other[k].limited_by);
    }
  }
}

TEST_CASE("power laws: every worker whom no bound holds takes the same time, and the sum stays") {
  // Elasticities 1/2, 1, 2 and different ones on the two sides: t_k·(b_k'/b_k)^e is common, up to whole
  // samples.
  const std::vector<TimeNearBatch> workers{
      {1000, 1.0, 0.5, 0.5}, {1000, 2.0, 1.0, 1.0}, {1000, 3.0, 2.0, 2.0}, {1000, 2.5, 0.7, 4.0}};
  const Allocation batches = equal_times(4000, workers, same_bounds(4, 1, 100000));
  CHECK(sum(batches) == 4000);
  const auto time_s = [&](std::size_t k) {
    const double ratio = static_cast<double>(batches[k].samples) / workers[k].samples;
    return workers[k].time_s *
           std::pow(ratio, ratio > 1.0 ? workers[k].elasticity_above : workers[k].elasticity_below);
  };
  for (std::size_t k = 1; k < 4; ++k) CHECK(time_s(k) == doctest::Approx(time_s(0)).epsilon(0.005));
}

TEST_CASE("what a bound takes from one worker goes to the others, who still take the same time") {
  // Without bounds 100 each at 1 s. The third holds 40: the others share 260, at elasticities 1 and 2
  // 100·T + 100·√T = 260, so T = ((-1 + √11.4)/2)² = 1.4118.
  const std::vector<TimeNearBatch> workers{{100, 1.0, 1.0, 1.0}, {100, 1.0, 2.0, 2.0}, {100, 1.0, 1.0, 1.0}};
  const std::vector<BatchBounds> bounds{
      {1, 1000, BatchLimit::maximum}, {1, 1000, BatchLimit::maximum}, {1, 40, BatchLimit::memory}};
  const Allocation batches = equal_times(300, workers, bounds);
  CHECK(batches_of(batches) == Batches{141, 119, 40});
  CHECK(batches[2].wanted_samples == doctest::Approx(100.0));
  CHECK(batches[2].limited_by == BatchLimit::memory);
  CHECK(batches[0].limited_by == BatchLimit::none);
}

TEST_CASE("a total that the bounds cannot hold becomes the nearest one they can") {
  const std::vector<TimeNearBatch> workers{{10, 1.0, 5.0, 5.0}, {10, 9.0, 0.05, 0.05}};
  CHECK(batches_of(equal_times(1000, workers, same_bounds(2, 4, 30))) == Batches{30, 30});
  CHECK(batches_of(equal_times(1, workers, same_bounds(2, 4, 30))) == Batches{4, 4});
}

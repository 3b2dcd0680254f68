// Traces by hand, exact in binary: the share of the newest batch is ½, averages start at (0, 1).
#include "sim/learning/batch_norm_averages.hpp"

#include <vector>

#include <doctest/doctest.h>

#include "sim/base/check.hpp"

using namespace paceline;

namespace {

using Statistics = std::vector<float>;

BatchNormAverages averages_of_two(BatchNormRule rule) {
  return {{0.0F, 1.0F}, rule, 2, 0.5};
}

// Worker 1's gradient with statistics (8, 5), then worker 0's with (4, 3), applied in this order.
Statistics after_two_gradients(BatchNormAverages averages) {
  averages.hold(WorkerId{0}, GradientId{0}, {4.0F, 3.0F});
  averages.hold(WorkerId{1}, GradientId{1}, {8.0F, 5.0F});
  CHECK(averages.global() == Statistics{0.0F, 1.0F});
  averages.apply(GradientId{1});
  averages.apply(GradientId{0});
  return averages.global();
}

}  // namespace

TEST_CASE("per push: every gradient counts, in the order in which they are applied") {
  // (0, 1) → (4, 3) → (4, 3)
  CHECK(after_two_gradients(averages_of_two(BatchNormRule::per_push)) == Statistics{4.0F, 3.0F});
}

TEST_CASE("chief: only the first worker's gradients count") {
  // (0, 1) → (2, 2)
  CHECK(after_two_gradients(averages_of_two(BatchNormRule::chief)) == Statistics{2.0F, 2.0F});
}

TEST_CASE("averaged: each worker averages its own batches, evaluation takes the mean") {
  // worker 0: (2, 2), worker 1: (4, 3), mean (3, 2.5)
  CHECK(after_two_gradients(averages_of_two(BatchNormRule::averaged)) == Statistics{3.0F, 2.5F});
}

TEST_CASE("a discarded gradient leaves no trace, and none counts twice") {
  BatchNormAverages averages = averages_of_two(BatchNormRule::per_push);
  averages.hold(WorkerId{0}, GradientId{0}, {4.0F, 3.0F});
  averages.discard(GradientId{0});
  CHECK(averages.global() == Statistics{0.0F, 1.0F});
  CHECK_THROWS_AS(averages.apply(GradientId{0}), ProgrammingError);
  averages.hold(WorkerId{0}, GradientId{1}, {4.0F, 3.0F});
  averages.apply(GradientId{1});
  CHECK_THROWS_AS(averages.apply(GradientId{1}), ProgrammingError);
  CHECK_THROWS_AS(averages.hold(WorkerId{0}, GradientId{2}, {4.0F}), ProgrammingError);
}

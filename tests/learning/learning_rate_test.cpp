#include <doctest/doctest.h>

#include "sim/base/check.hpp"
#include "sim/learning/optimizer.hpp"

using namespace paceline;

namespace {

OptimizerConfig with_rate(double learning_rate, WorkerScaling scaling = WorkerScaling::none) {
  OptimizerConfig optimizer;
  optimizer.learning_rate = learning_rate;
  optimizer.worker_scaling = scaling;
  return optimizer;
}

}  // namespace

TEST_CASE("without schedule and scaling the learning rate is the configured one, always") {
  const OptimizerConfig optimizer = with_rate(0.15);
  for (const double epoch : {0.0, 0.5, 1000.0}) {
    CHECK(learning_rate_at(optimizer, epoch, 1) == 0.15);
    CHECK(learning_rate_at(optimizer, epoch, 8) == 0.15);
  }
}

TEST_CASE("linear scaling multiplies the rate by the gradients combined in the update") {
  // rate = n · learning_rate: n = W under BSP, 1 under ASP
  const OptimizerConfig optimizer = with_rate(0.25, WorkerScaling::linear);
  CHECK(learning_rate_at(optimizer, 0.0, 1) == 0.25);
  CHECK(learning_rate_at(optimizer, 0.0, 8) == 8 * 0.25);
}

TEST_CASE("each milestone passed multiplies the rate by the factor, from the milestone itself on") {
  // rate = learning_rate · factor^k, k = milestones at or before the epoch
  OptimizerConfig optimizer = with_rate(1.0);
  optimizer.schedule = {.milestone_epochs = {15.0, 30.0, 45.0}, .factor = 0.5};
  CHECK(learning_rate_at(optimizer, 14.999, 1) == 1.0);
  CHECK(learning_rate_at(optimizer, 15.0, 1) == 0.5);
  CHECK(learning_rate_at(optimizer, 30.0, 1) == 0.25);
  CHECK(learning_rate_at(optimizer, 44.0, 1) == 0.25);
  CHECK(learning_rate_at(optimizer, 60.0, 1) == 0.125);
}

TEST_CASE("scaling and schedule multiply") {
  OptimizerConfig optimizer = with_rate(1.0, WorkerScaling::linear);
  optimizer.schedule = {.milestone_epochs = {1.0}, .factor = 0.25};
  CHECK(learning_rate_at(optimizer, 2.0, 4) == 4 * 0.25);
}

TEST_CASE("an update without gradients is a programming error") {
  CHECK_THROWS_AS(static_cast<void>(learning_rate_at(OptimizerConfig{}, 0.0, 0)), ProgrammingError);
}

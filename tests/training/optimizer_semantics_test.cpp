// The optimizer under a whole job: what the coordinator asks for and when, with a learner whose steps are
// computed by hand: f(x) = ½ (x₀² + 2 x₁²) from (8, 4), g = (x₀, 2 x₁). Two workers, batches of 10 samples.
#include <doctest/doctest.h>

#include "tests/support/quadratic_learner.hpp"
#include "tests/support/test_job.hpp"

using namespace paceline;
using namespace paceline::test;

namespace {

TestJob two_gradients(const char* policy, OptimizerConfig optimizer) {
  TestJob job;
  job.workers = {{1, 1.0}, {1, 0.8}};
  job.phases = {{.policy = policy}};
  job.optimizer = std::move(optimizer);
  job.total_samples = 20;
  return job;
}

std::vector<float> parameters_after(const TestJob& job) {
  QuadraticLearner learner({.worker_count = 2});
  const TestJob::Result result = job.run_ideal(learner);
  CHECK(result.applied_samples == job.total_samples);
  return learner.x();
}

}  // namespace

TEST_CASE("BSP over a server takes one step for both gradients, ASP one for each push") {
  // η = ¼, m = ½. Both gradients are (8, 8), taken at (8, 4).
  // BSP: v = (8, 8), x = (6, 2). ASP: v = (8, 8), then (12, 12): x = (6, 2), then (3, −1).
  const OptimizerConfig optimizer{.learning_rate = 0.25, .momentum = 0.5};
  CHECK(parameters_after(two_gradients("bsp", optimizer)) == std::vector{6.0F, 2.0F});
  CHECK(parameters_after(two_gradients("asp", optimizer)) == std::vector{3.0F, -1.0F});
}

TEST_CASE("the learning rate is read when the update is applied, not when its gradient was computed") {
  // Both gradients start at step 0 on (8, 4). The first is applied at step 0 with ½, the second at step 1
  // with ¼: x = (8, 4) − (8, 8)/2 − (8, 8)/4 = (2, −2)
  const OptimizerConfig optimizer{
      .learning_rate = 0.5, .schedule = {.basis = ScheduleBasis::step, .milestones = {1.0}, .factor = 0.5}};
  CHECK(parameters_after(two_gradients("asp", optimizer)) == std::vector{2.0F, -2.0F});
}

TEST_CASE("milestones by progress count samples, milestones by raw step count updates") {
  // BSP combines two gradients in an update: progress ½ is reached after one of two updates, as is step 1.
  // The first update: x = (8, 4) − (8, 8)/2 = (4, 0). The second, with half the rate: x = (4, 0) − (4, 0)/4 =
  // (3, 0).
  for (const auto& [basis, milestone] :
       {std::pair{ScheduleBasis::progress, 0.5}, std::pair{ScheduleBasis::step, 1.0}}) {
    TestJob job = two_gradients(
        "bsp",
        {.learning_rate = 0.5, .schedule = {.basis = basis, .milestones = {milestone}, .factor = 0.5}});
    job.total_samples = 40;
    CHECK(parameters_after(job) == std::vector{3.0F, 0.0F});
  }
}

TEST_CASE("when a phase follows another, velocities are kept, zeroed or scaled") {
  // η = ¼, m = ½; two phases of one BSP update each: v = (8, 8), x = (6, 2); then v ← f · v and g(6, 2) = (6,
  // 4):
  // f = 1: v = (10, 8), x = (3.5, 0);  f = 0: v = (6, 4), x = (4.5, 1);  f = ½: v = (8, 6), x = (4, 0.5)
  for (const auto& [rule, expected] : {std::pair{VelocityAtSwitch::keep, std::vector{3.5F, 0.0F}},
                                       std::pair{VelocityAtSwitch::zero, std::vector{4.5F, 1.0F}},
                                       std::pair{VelocityAtSwitch::scale, std::vector{4.0F, 0.5F}}}) {
    TestJob job = two_gradients(
        "bsp", {.learning_rate = 0.25, .momentum = 0.5, .velocity_at_switch = rule, .velocity_scale = 0.5});
    job.total_samples = 40;
    job.phases = {{.length = ShareOfJob{0.5}}, {.length = ShareOfJob{0.5}}};
    CHECK(parameters_after(job) == expected);
  }
}

TEST_CASE("a worker that exchanges parameters overwrites what others wrote") {
  // η = ¼, m = ½, each worker one local step from (8, 4): both write (6, 2), so one step is lost; had they
  // pushed gradients, x would be (3, −1).
  TestJob job = two_gradients("asp", {.learning_rate = 0.25, .momentum = 0.5});
  job.phases[0].exchange = Exchange::parameters;
  CHECK(parameters_after(job) == std::vector{6.0F, 2.0F});
}

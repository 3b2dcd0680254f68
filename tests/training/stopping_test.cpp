// Evaluations and the end of a job, with a learner whose curve is written down here.
#include <limits>

#include <doctest/doctest.h>

#include "tests/support/test_job.hpp"

using namespace paceline;
using paceline::test::TestJob;

namespace {

// Accuracy rises by 1 % per update; diverges when told to.
class ScriptedLearner final : public Learner {
 public:
  std::optional<int> diverges_at;
  void pull(WorkerId, ServerId) override {}
  void compute(WorkerId, std::int64_t, GradientId) override {}
  void apply(ServerId, std::span<const WeightedGradient>, const Hyperparameters& hyperparameters) override {
    ++updates_;
    rates.push_back(hyperparameters.learning_rate);
  }
  void apply_locally(WorkerId, GradientId, const Hyperparameters&) override {}
  void overwrite(ServerId, WorkerId) override {}
  void scale_velocity(double) override {}
  void discard(GradientId) override {}
  std::optional<Evaluation> evaluate() override {
    const bool diverged = diverges_at && updates_ >= *diverges_at;
    return Evaluation{diverged ? std::numeric_limits<double>::quiet_NaN() : 1.0, 0.01 * updates_};
  }
  std::vector<double> rates;

 private:
  int updates_ = 0;
};

EndReason end_of(const TestJob::Result& result) {
  const auto stops = result.recording.all<Stop>();
  REQUIRE(stops.size() == 1);
  return stops[0].second.reason;
}

}  // namespace

TEST_CASE("a job stops at the first evaluation at or above the target") {
  // ASP of one worker, an update every 10 s, evaluated every 5 updates: 0.07 is first seen at update 10, at
  // 100 s.
  TestJob job;
  job.workers = {{}};
  job.phases = {{.policy = "asp"}};
  job.evaluate_every = {5.0, EveryUnit::updates};
  job.target_accuracy = 0.07;
  ScriptedLearner learner;
  const auto result = job.run_ideal(learner);
  CHECK(end_of(result) == EndReason::target_reached);
  CHECK(result.end.value() == 100.0);
}

TEST_CASE("a job that never reaches its target does all its work and is evaluated at the end") {
  // 400 samples of 10: 40 updates; evaluated at 0, 15, 30 and, though 45 is never reached, at the end.
  TestJob job;
  job.workers = {{}};
  job.phases = {{.policy = "asp"}};
  job.evaluate_every = {15.0, EveryUnit::updates};
  job.target_accuracy = 0.99;
  ScriptedLearner learner;
  const auto result = job.run_ideal(learner);
  CHECK(end_of(result) == EndReason::workload_done);
  std::vector<std::uint64_t> evaluated;
  for (const auto& [time, evaluate] : result.recording.all<Evaluate>()) evaluated.push_back(evaluate.updates);
  CHECK(evaluated == std::vector<std::uint64_t>{0, 15, 30, 40});
}

TEST_CASE("an evaluation that falls on the last update is not repeated") {
  TestJob job;
  job.workers = {{}};
  job.phases = {{.policy = "asp"}};
  job.evaluate_every = {20.0, EveryUnit::updates};
  ScriptedLearner learner;
  const auto result = job.run_ideal(learner);
  CHECK(end_of(result) == EndReason::workload_done);
  CHECK(result.recording.all<Evaluate>().size() == 3);
}

TEST_CASE("evaluation by samples counts samples, not updates") {
  // BSP of 4 workers: 40 samples an update, every 100 samples -> after 3, 5, 8 and 10 updates (120, 200, 320,
  // 400)
  TestJob job;
  job.evaluate_every = {100.0, EveryUnit::samples};
  ScriptedLearner learner;
  std::vector<std::uint64_t> evaluated;
  for (const auto& [time, evaluate] : job.run_ideal(learner).recording.all<Evaluate>())
    evaluated.push_back(evaluate.updates);
  CHECK(evaluated == std::vector<std::uint64_t>{0, 3, 5, 8, 10});
}

TEST_CASE("a loss that is not finite ends the job as diverged") {
  TestJob job;
  job.evaluate_every = {1.0, EveryUnit::updates};
  job.target_accuracy = 0.99;
  ScriptedLearner learner;
  learner.diverges_at = 4;
  const auto result = job.run_ideal(learner);
  CHECK(end_of(result) == EndReason::diverged);
  CHECK(result.updates == 4);
}

TEST_CASE("gradients in flight when the job stops are discarded, each once") {
  TestJob job;
  job.phases = {{.policy = "asp"}};
  job.workers = {{1, 1.0}, {1, 0.9}, {1, 0.8}};
  job.evaluate_every = {1.0, EveryUnit::updates};
  job.target_accuracy = 0.05;
  ScriptedLearner learner;
  const auto result = job.run_ideal(learner);
  CHECK(end_of(result) == EndReason::target_reached);
  std::size_t applied = 0;
  for (const auto& [time, apply] : result.recording.all<Apply>()) applied += apply.gradients.size();
  const std::size_t started = result.recording.all<StartIteration>().size();
  CHECK(result.recording.all<Discard>().size() > 0);
  CHECK(started == applied + result.recording.all<Discard>().size());
}

TEST_CASE(
    "linear worker scaling multiplies the rate by the gradients combined; milestones multiply it again") {
  // 4 workers: BSP combines 4 -> 0.4, after half an epoch (20 of 40 updates' samples) 0.04; ASP then 0.01
  TestJob job;
  job.optimizer = {.learning_rate = 0.1,
                   .worker_scaling = RateScaling::linear,
                   .schedule = {.milestones = {0.5}, .factor = 0.1}};
  job.phases = {{.length = ShareOfJob{0.75}}, {.policy = "asp", .length = ShareOfJob{0.25}}};
  ScriptedLearner learner;
  static_cast<void>(job.run_ideal(learner));
  // BSP: 8 updates of 40 samples (300 -> 320); the first 5 are applied at epochs 0, 0.1 … 0.4, the next 3
  // from 0.5 on
  REQUIRE(learner.rates.size() == 8 + 8);
  for (std::size_t i = 0; i < 5; ++i) CHECK(learner.rates[i] == doctest::Approx(0.4));
  for (std::size_t i = 5; i < 8; ++i) CHECK(learner.rates[i] == doctest::Approx(0.04));
  for (std::size_t i = 8; i < 16; ++i) CHECK(learner.rates[i] == doctest::Approx(0.01));
}

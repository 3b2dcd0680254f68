// What an adjustment of the batches does to a job: when it happens, who waits for it, what it costs.
#include <cmath>
#include <tuple>

#include <doctest/doctest.h>

#include "sim/cost/balance.hpp"
#include "sim/report/recording/run_recorder.hpp"
#include "tests/support/test_job.hpp"

using namespace paceline;
using paceline::test::TestJob;

namespace {

// A sample takes 1/cores seconds: speeds are the core counts of OmniLearn's levels.
TestJob job_on(const std::vector<double>& cores, const char* policy) {
  TestJob job;
  job.workers.clear();
  for (const double speed : cores) job.workers.push_back({.cores = 1, .speed = speed});
  job.phases = {{.policy = policy}};
  job.batching = {
      .controller = "omnilearn-code", .initial_samples = 32, .minimum_samples = 16, .maximum_samples = 96};
  job.dataset_samples = 1280;  // 10 rounds of 128
  job.total_samples = 4 * 1280;
  return job;
}

std::vector<std::pair<double, Batches>> adjustments_of(const TestJob::Result& result) {
  std::vector<std::pair<double, Batches>> adjustments;
  for (const auto& [time, adopt] : result.recording.all<AdoptBatches>())
    adjustments.emplace_back(time.value(), batches_of(adopt.allocation));
  return adjustments;
}

}  // namespace

TEST_CASE("omnilearn-code, BSP: one adjustment at the end of the first epoch, then at rest") {
  // HL2: rounds last max b/c = 32/8 = 4 s; ten of them are the epoch. The vector of the reference, then its
  // fixed point.
  const auto result = job_on({12, 12, 8, 16}, "bsp").run_ideal();
  const auto adjustments = adjustments_of(result);
  REQUIRE(adjustments.size() == 2);
  CHECK(adjustments[0] == std::pair{0.0, Batches{32, 32, 32, 32}});
  CHECK(adjustments[1].first == doctest::Approx(40.0));
  CHECK(adjustments[1].second == Batches{31, 31, 22, 45});
}

TEST_CASE("after a change of level omnilearn-code needs one whole epoch at the old batches") {
  // HL1 until epoch 1 ends at 10·32/12 = 26.67 s: the controller looks at times of HL1 and leaves the batches
  // alone. Then HL2: ten rounds of 4 s with 32 samples each, and only then the HL2 vector.
  TestJob job = job_on({12, 12, 12, 12}, "bsp");
  job.heterogeneity.schedule = {
      {.at = AtEpoch{1.0}, .workers = {}, .speeds = {1.0, 1.0, 8.0 / 12.0, 16.0 / 12.0}}};
  RunRecorder recorder(job.seed);
  job.observer = &recorder;
  const auto result = job.run_ideal();
  const auto adjustments = adjustments_of(result);
  REQUIRE(adjustments.size() == 2);
  CHECK(adjustments[1].first == doctest::Approx(10 * 32.0 / 12 + 40.0));
  CHECK(adjustments[1].second == Batches{31, 31, 22, 45});
  // The results say so: imbalance 1.5 from the change on, an adjustment that came 40 s after it.
  const RunResult run = recorder.finish(result.end, std::nullopt);
  REQUIRE(run.balances.size() == 3);
  CHECK(run.balances[0].imbalance() == doctest::Approx(1.0));
  CHECK(run.balances[1].cause == BalanceCause::conditions);
  CHECK(run.balances[1].imbalance() == doctest::Approx(1.5));
  CHECK(run.balances[2].total_samples == 129);
  REQUIRE(run.balances[2].lag.has_value());
  CHECK(run.balances[2].lag->value() == doctest::Approx(40.0));
  CHECK(run.mean_lag()->value() == doctest::Approx(40.0));
}

TEST_CASE("omnilearn-code, ASP: who has reported waits for the slowest worker's first step") {
  // Cores 8, 8, 8, 16: the fast worker is ready after 2 s and waits until 4 s; then 32/8 = 4 s and 56/16 =
  // 3.5 s.
  const auto result = job_on({8, 8, 8, 16}, "asp").run_ideal();
  CHECK_FALSE(result.stalled);
  const auto adjustments = adjustments_of(result);
  REQUIRE(adjustments.size() >= 2);
  CHECK(adjustments[1].first == doctest::Approx(4.0));
  CHECK(adjustments[1].second == Batches{32, 32, 32, 56});
  std::vector<double> starts_of_fast;
  for (const auto& [time, start] : result.recording.all<StartIteration>())
    if (start.worker == WorkerId{3}) starts_of_fast.push_back(time.value());
  CHECK(starts_of_fast[0] == 0.0);
  CHECK(starts_of_fast[1] == doctest::Approx(4.0));
  CHECK(starts_of_fast[2] == doctest::Approx(7.5));
}

TEST_CASE(
    "LB-BSP in a job: at rest after the first round, and after a change as fast as its moving average") {
  // Speeds 1 and 3, B = 16. Round 1: 8 s and 8/3 s, so v = 1 and 3: 4 and 12, 4 s a round. After the third
  // round (16 s, the end of epoch 1) both have speed 1: v_1 moves by a fifth of what is left, 3, 2.6, 2.28,
  // 2.024, 1.82, 1.66, 1.52, and 16/(1 + v_1) is 4.44, 4.88, 5.29, 5.68, 6.03, 6.34: rounds of 12, 12, 11,
  // 11, 10, 10 s, adjustments after the second of them (40 s) and the fourth (62 s).
  TestJob job = job_on({1, 3}, "bsp");
  job.batching = {.controller = {"lb-bsp", {{"smoothing", 0.2}}}, .initial_samples = 8};
  job.dataset_samples = 48;
  job.total_samples = 9 * 16;
  job.heterogeneity.schedule = {{.at = AtEpoch{1.0}, .speeds = {1.0, 1.0 / 3.0}}};
  const auto result = job.run_ideal();
  const auto adjustments = adjustments_of(result);
  const std::vector<std::pair<double, Batches>> expected{
      {0.0, {8, 8}}, {8.0, {4, 12}}, {40.0, {5, 11}}, {62.0, {6, 10}}};
  REQUIRE(adjustments.size() == expected.size());
  for (std::size_t i = 0; i < expected.size(); ++i) {
    CHECK(adjustments[i].first == doctest::Approx(expected[i].first));
    CHECK(adjustments[i].second == expected[i].second);
  }
  CHECK(result.end.value() == doctest::Approx(82.0));
}

TEST_CASE("an adjustment makes every worker pause before it goes on with its new batch") {
  // As the BSP case above, with 5 s to build a new loader: the eleventh round begins at 40 + 5 s.
  TestJob job = job_on({12, 12, 8, 16}, "bsp");
  job.costs.adjustment = Seconds{5.0};
  const auto result = job.run_ideal();
  std::vector<double> starts;
  for (const auto& [time, start] : result.recording.all<StartIteration>())
    if (start.worker == WorkerId{0}) starts.push_back(time.value());
  CHECK(starts[9] == doctest::Approx(36.0));
  CHECK(starts[10] == doctest::Approx(45.0));
  CHECK(starts[11] == doctest::Approx(45.0 + 45.0 / 16.0));
}

TEST_CASE("passes over a shard are K·b_k/B in each epoch, and the weights of an update sum to 1") {
  // The fixed batches 31, 31, 22, 45 of B = 129: in an epoch of 129·n samples worker k trains n·b_k, of a
  // shard of 129·n/4 samples.
  TestJob job = job_on({31, 31, 22, 45}, "bsp");
  job.batching.controller = "static";
  job.total_samples = 128 * 40;
  RunRecorder recorder(job.seed);
  job.observer = &recorder;
  const auto result = job.run_ideal();
  const RunResult run = recorder.finish(result.end, std::nullopt);
  for (std::size_t w = 0; w < 4; ++w) {
    const double passes = static_cast<double>(run.worker_samples[w]) / (128.0 * 40.0 / 4.0);
    CHECK(passes == doctest::Approx(4.0 * static_cast<double>(run.batches[w].batch_samples) / 128.0));
  }
  for (const auto& [time, apply] : result.recording.all<Apply>()) {
    double weights = 0.0;
    for (const AppliedGradient& gradient : apply.gradients) weights += gradient.weight;
    CHECK(weights == doctest::Approx(1.0));
  }
}

TEST_CASE("under ASP the learning rate of each gradient follows its own batch") {
  // η_k = η·b_k/b_0 (linear), η·√(b_k/b_0), or η.
  TestJob job = job_on({1, 3}, "asp");
  job.batching.controller = "static";  // 16 and 48 of 64
  job.optimizer.learning_rate = 0.1;
  for (const auto& [scaling, slow, fast] : {std::tuple{RateScaling::linear, 0.05, 0.15},
                                            {RateScaling::sqrt, 0.1 * std::sqrt(0.5), 0.1 * std::sqrt(1.5)},
                                            {RateScaling::none, 0.1, 0.1}}) {
    job.optimizer.batch_scaling = scaling;
    for (const auto& [time, apply] : job.run_ideal().recording.all<Apply>()) {
      const bool is_slow = apply.gradients.front().worker == WorkerId{0};
      CHECK(apply.hyperparameters.learning_rate == doctest::Approx(is_slow ? slow : fast));
    }
  }
}

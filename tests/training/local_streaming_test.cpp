// Parameters exchanged part by part while training goes on: what merges, what it costs, what counts.
#include <algorithm>

#include <doctest/doctest.h>

#include "tests/training/local_job.hpp"

using namespace paceline;
using namespace paceline::test;

namespace {

// Equal workers on a ring; inner momentum, an outer step with a velocity of its own.
TestJob streaming_job(std::int64_t steps, std::optional<Streaming> fragments) {
  LocalTraining local{.steps = steps, .outer = {.learning_rate = 0.7, .momentum = 0.9, .nesterov = true}};
  local.fragments = fragments;
  TestJob job = job_of({{}, {}, {}, {}}, {.transport = Transport::ring, .local = local});
  job.total_samples = 40 * steps * static_cast<std::int64_t>(steps_compared);
  return job;
}

}  // namespace

TEST_CASE("one fragment without delay or mixing is the exchange of all parameters at once") {
  check_same(trajectory(streaming_job(4, Streaming{})), trajectory(streaming_job(4, std::nullopt)));
}

TEST_CASE("fragments change in turn, each along its own difference") {
  // η = ½ without momentum, 2 steps, 2 fragments: x₀, then x₁. On (8, 4) one step leads each worker to
  // (4, 0), d₀ = 4, γ = ½: x₀ = 6. Workers go on from (6, 0): a step leads to (3, 0); d₁ = 4 - 0: x₁ = 2.
  // From (3, 2): (1.5, 0); d₀ = 6 - 1.5: x₀ = 3.75.
  TestJob job = job_of(
      {{}, {}}, {.transport = Transport::ring,
                 .local = LocalTraining{
                     .steps = 2, .outer = {.learning_rate = 0.5}, .fragments = Streaming{.count = 2}}});
  job.optimizer = {.learning_rate = 0.5};
  job.total_samples = 60;
  QuadraticLearner learner({.worker_count = 2});
  CHECK(job.run_ideal(learner).applied_samples == 60);
  CHECK(learner.x()[0] == doctest::Approx(3.75));
  CHECK(learner.x()[1] == doctest::Approx(2.0));
}

TEST_CASE("workers that keep all of their own never merge, and half of it is the mean of both") {
  // One step, then an exchange: with α = 1 a worker goes where it would have gone alone, with η = ½ from
  // (8, 4) by (4, 0) and (2, 0) to (1, 0), whatever becomes of x. With α = ½ it goes on from between.
  const auto own_after = [](double mixing, std::int64_t exchanges) {
    TestJob job = job_of({{}, {}}, {.transport = Transport::ring,
                                    .local = LocalTraining{.outer = {.learning_rate = 0.5},
                                                           .fragments = Streaming{.mixing = mixing}}});
    job.optimizer = {.learning_rate = 0.5};
    job.total_samples = 20 * exchanges;
    QuadraticLearner learner({.worker_count = 2});
    static_cast<void>(job.run_ideal(learner));
    return learner.x_of(WorkerId{1})[0];
  };
  CHECK(own_after(1.0, 3) == doctest::Approx(1.0));
  // x: 8 → 8 - ½ (8 - 4) = 6, own 4: it goes on from 5, to 2.5.
  CHECK(own_after(0.5, 2) == doctest::Approx(2.5));
}

TEST_CASE("streaming hides an exchange exactly when it takes no longer than the delayed steps") {
  // k = 4, F = 2, L = 1 s, S = 1000 B: an exchange takes 2·3·(1 + ⌈1000/8⌉/B); a step 10 s, τ = 3: hidden
  // up to 30 s, B ≥ 125/4. Between two updates: 8/2 steps of 10 s, and what the exchange takes longer.
  for (const double bandwidth : {1000.0, 125.0 / 4.0, 125.0 / 4.5, 10.0}) {
    TestJob job = streaming_job(8, Streaming{.count = 2, .delay = 3});
    job.network = {BytesPerSecond{bandwidth}, Seconds{1.0}, BytesPerSecond{bandwidth}};
    const double exchange = 6.0 * (1.0 + 125.0 / bandwidth);
    const std::vector<double> times = times_of_updates(job.run_ideal());
    REQUIRE(times.size() > 10);
    for (std::size_t i = 1; i < times.size(); ++i)
      CHECK(times[i] - times[i - 1] == doctest::Approx(40.0 + std::max(0.0, exchange - 30.0)).epsilon(1e-9));
  }
}

TEST_CASE("processors pay for the part of an exchange that is sent, message by message") {
  // Four workers on a ring: each sends and receives 2·3 times, ½ s a message, and of every part of S = 1000 B
  // twice 3/4 each way, at 100 B/s: 12 · ½ + 4 · ¾ · 1000 / F / 100 s, before 8 / F steps of 10 s.
  for (const std::int64_t fragments : {1, 2, 4}) {
    TestJob job = streaming_job(8, Streaming{.count = fragments});
    job.costs.communication = {.per_message = Seconds{0.5}, .rate = BytesPerSecond{100.0}};
    const std::vector<double> times = times_of_updates(job.run_ideal());
    const auto parts = static_cast<double>(fragments);
    REQUIRE(times.size() > 10);
    for (std::size_t i = 1; i < times.size(); ++i)
      CHECK(times[i] - times[i - 1] == doctest::Approx(80.0 / parts + 6.0 + 30.0 / parts));
  }
}

TEST_CASE("an exchange does not wait for the further steps of a worker that leaves") {
  // Two steps, then two more while the difference travels. Worker 1 is ten times slower: its difference is
  // ready after 200 s, its further steps would last until 400. It leaves at 300 s: the update is made then.
  TestJob job = streaming_job(4, Streaming{.count = 1, .delay = 2});
  job.workers = {{}, {1, 0.1}};
  job.total_samples = 400;
  job.heterogeneity.membership = {{Seconds{300.0}, 1, MembershipEvent::leaves}};
  const TestJob::Result result = job.run_ideal();
  CHECK_FALSE(result.stalled);
  const std::vector<double> times = times_of_updates(result);
  REQUIRE(times.size() > 1);
  CHECK(times[0] == 300.0);
  CHECK(times[1] == 340.0);
}

TEST_CASE("steps taken while a difference travels count once, also when workers leave and join") {
  // Speeds differ, one worker leaves in the middle and comes back: every sample handed out is applied or
  // given back, and the job ends with all of them.
  TestJob job = streaming_job(8, Streaming{.count = 2, .delay = 2});
  job.workers = {{1, 1.0}, {1, 0.5}, {1, 1.0}, {1, 0.8}};
  job.heterogeneity.membership = {{Seconds{333.0}, 2, MembershipEvent::leaves},
                                  {Seconds{777.0}, 2, MembershipEvent::joins}};
  job.total_samples = 4000;
  QuadraticLearner learner({.worker_count = 4});
  const TestJob::Result result = job.run_ideal(learner);
  CHECK(!result.stalled);
  CHECK(result.applied_samples >= 4000);
  CHECK(result.applied_samples < 4000 + 4 * 40);
  std::int64_t steps = 0;
  for (const auto& [time, start] : result.recording.all<StartIteration>()) steps += start.local->count;
  for (const auto& [time, more] : result.recording.all<TrainOn>()) steps += more.local.count;
  const auto discarded = static_cast<std::int64_t>(result.recording.all<Discard>().size());
  // A gradient that was called off had taken 2 steps, or all 4.
  CHECK(10 * steps >= result.applied_samples);
  CHECK(10 * steps <= result.applied_samples + discarded * 40);
}

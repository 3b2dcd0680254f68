// How many steps workers train alone, and at which rate: by the schedule, by speed.
#include <algorithm>
#include <cmath>
#include <numbers>
#include <string_view>

#include <doctest/doctest.h>

#include "tests/training/local_job.hpp"

using namespace paceline;
using namespace paceline::test;

TEST_CASE("by the rate, workers train the longer alone the smaller it is") {
  // (0.2 / 0.05)² = 16; at a rate of 0.2 it is 1, and never less than `steps`; at 0 all that is left.
  const double nobody[] = {1.0};
  CHECK(local_steps({.steps = 4, .growth = 0.2}, 0.05, 1.0, nobody, 1000.0) == 16);
  CHECK(local_steps({.steps = 4, .growth = 0.2}, 0.2, 1.0, nobody, 1000.0) == 4);
  CHECK(local_steps({.steps = 4, .growth = 0.2}, 0.0, 1.0, nobody, 1000.0) == 1000);
  CHECK(local_steps({.steps = 4, .growth = 0.2}, 0.05, 1.0, nobody, 2.0) == 4);
}

TEST_CASE("by the rate, the last stretch ends with the work however small the rate has become") {
  // Two workers, 1,000 steps each: η from 0.1 along half a cosine to 0. (0.1/η)² has no bound; the last
  // stretch is what is left.
  for (const char* policy : {"bsp", "asp"}) {
    TestJob job = job_of({{}, {}}, {.policy = policy, .local = LocalTraining{.steps = 4, .growth = 0.1}});
    job.optimizer = {.learning_rate = 0.1};
    job.optimizer.schedule = {
        .basis = ScheduleBasis::progress, .shape = ScheduleShape::cosine, .milestones = {}, .end = 1.0};
    job.total_samples = 20'000;
    const TestJob::Result result = job.run_ideal();
    CHECK(result.applied_samples >= 20'000);
    // Two workers that come alone each take half of what both have left.
    CHECK(result.applied_samples <= (std::string_view(policy) == "bsp" ? 20'000 : 25'000));
    const auto starts = result.recording.all<StartIteration>();
    CHECK(starts.front().second.local->count == 4);
    CHECK(std::ranges::any_of(starts, [](const auto& start) { return start.second.local->count > 100; }));
  }
}

TEST_CASE("by the rate, a warm-up that begins at nothing does not make the first stretch endless") {
  // (0.2 / 0.05)² = 16 from the first stretch on.
  TestJob job = job_of({{}, {}}, {.local = LocalTraining{.steps = 4, .growth = 0.2}});
  job.optimizer.schedule.warmup = 1.0;
  const auto result = job.run_ideal();
  const auto starts = result.recording.all<StartIteration>();
  REQUIRE_FALSE(starts.empty());
  CHECK(starts.front().second.local->count == 16);
}

TEST_CASE("by speed, a whole share of the steps is not lost to rounding") {
  // 49 · (1/49) is below 1 in binary: 49 steps of the fastest are one of a worker 49 times as slow, not none.
  const double seconds[] = {1.0 / 49.0, 1.0};
  CHECK(local_steps({.steps = 49, .by_speed = true, .least = 0}, 0.1, 1.0, seconds, 1e9) == 1);
  CHECK(local_steps({.steps = 49, .by_speed = true, .least = 0}, 0.1, 1.0 / 49.0, seconds, 1e9) == 49);
}

namespace {

// Steps and rate of each stretch, with the time at which it begins.
struct Stretch {
  double begins;
  std::uint64_t worker;
  std::int64_t steps;
  double rate;

  bool operator==(const Stretch&) const = default;
};

// Workers that take 10 and 25 s for a step of 10 samples, alone, two steps at a time, 140 samples. By hand,
// with the samples applied before: 0 begins at 0 (0), 20 (20), 40 (40), 60 (80: 1 came at 50) and 80 (100); 1
// at 0 (0) and 50 (60). These 7 stretches are 140 samples.
TestJob two_alone(LocalTraining local) {
  TestJob job = job_of({{1, 1.0}, {1, 0.4}}, {.policy = "asp", .local = local});
  job.optimizer = {.learning_rate = 0.5};
  job.total_samples = 140;
  return job;
}

std::vector<Stretch> stretches_of(const TestJob& job) {
  std::vector<Stretch> all;
  for (const auto& [time, start] : job.run_ideal().recording.all<StartIteration>())
    all.push_back({time.value(), start.worker.value, start.local->count, start.local->inner.learning_rate});
  return all;
}

}  // namespace

TEST_CASE("workers that come alone read the schedule where all of them together are as they begin") {
  // A drop after 40 samples: half an epoch of 80, 2/7 of 140, or two updates of 20. Worker 1 began before it
  // and keeps its rate until 50 s, though 0 passes it at 40 s.
  const std::vector<Stretch> by_hand{{0.0, 0, 2, 0.5},   {0.0, 1, 2, 0.5},   {20.0, 0, 2, 0.5},
                                     {40.0, 0, 2, 0.25}, {50.0, 1, 2, 0.25}, {60.0, 0, 2, 0.25},
                                     {80.0, 0, 2, 0.25}};
  TestJob job = two_alone({.steps = 2});
  job.dataset_samples = 80;
  for (const auto& [basis, milestone] :
       {std::pair(ScheduleBasis::epoch, 0.5), std::pair(ScheduleBasis::progress, 2.0 / 7.0),
        std::pair(ScheduleBasis::step, 2.0)}) {
    job.optimizer.schedule = {.basis = basis, .milestones = {milestone}, .factor = 0.5};
    CHECK(stretches_of(job) == by_hand);
  }
}

TEST_CASE("workers that come alone follow a cosine by what all together have had applied") {
  // η (1 + cos(π p))/2 at p = 0, 1/7, 2/7, … of 140 samples: 0, 0, 20, 40, 60, 80 and 100 applied.
  TestJob job = two_alone({.steps = 2});
  job.optimizer.schedule = {
      .basis = ScheduleBasis::progress, .shape = ScheduleShape::cosine, .milestones = {}, .end = 1.0};
  const std::vector<Stretch> stretches = stretches_of(job);
  REQUIRE(stretches.size() == 7);
  const double sevenths[] = {0.0, 0.0, 1.0, 2.0, 3.0, 4.0, 5.0};
  for (std::size_t i = 0; i < 7; ++i)
    CHECK(stretches[i].rate ==
          doctest::Approx(0.25 * (1.0 + std::cos(std::numbers::pi * sevenths[i] / 7.0))));
}

TEST_CASE("by the rate, a worker that comes alone takes more steps from its first stretch after a drop on") {
  // (0.5/0.5)² = 1, so 2; after the drop by half at 40 samples (0.5/0.25)² = 4. 0 begins at 40 s, 1 at 50 s
  // (60 applied), where half of the 80 samples that are left is 4 steps.
  TestJob job = two_alone({.steps = 2, .growth = 0.5});
  job.optimizer.schedule = {.basis = ScheduleBasis::progress, .milestones = {2.0 / 7.0}, .factor = 0.5};
  CHECK(stretches_of(job) ==
        std::vector<Stretch>{
            {0.0, 0, 2, 0.5}, {0.0, 1, 2, 0.5}, {20.0, 0, 2, 0.5}, {40.0, 0, 4, 0.25}, {50.0, 1, 4, 0.25}});
}

TEST_CASE("after a synchronous phase, workers that come alone go on in the schedule where it ended") {
  // Two updates of 20 samples, 25 s each, then alone with the rate of the drop at the second. 0 begins at
  // 50 s, 70, 90, 110 (100 + 20: 1 came at 100), 1 at 50, 100 (100).
  TestJob job = two_alone({.steps = 2});
  job.total_samples = 160;
  job.phases = {PhaseConfig{.length = UpdateCount{2}}, job.phases.front()};
  job.optimizer.schedule = {.basis = ScheduleBasis::step, .milestones = {2.0, 5.0}, .factor = 0.5};
  const auto starts = job.run_ideal().recording.all<StartIteration>();
  std::vector<Stretch> alone;
  for (const auto& [time, start] : starts)
    if (start.local)
      alone.push_back(
          {time.value(), start.worker.value, start.local->count, start.local->inner.learning_rate});
  // Steps applied before each: 2, 2, 3, 4, 5 (1 came at 100), 6.
  CHECK(alone == std::vector<Stretch>{{50.0, 0, 2, 0.25},
                                      {50.0, 1, 2, 0.25},
                                      {70.0, 0, 2, 0.25},
                                      {90.0, 0, 2, 0.25},
                                      {100.0, 1, 2, 0.125},
                                      {110.0, 0, 2, 0.125}});
}

// Iterations that take longer than others: after a start, with a new batch, after a rest.
#include <algorithm>
#include <map>
#include <set>
#include <utility>
#include <vector>

#include <doctest/doctest.h>

#include "sim/cost/fixed_costs.hpp"
#include "tests/support/test_job.hpp"

using namespace paceline;
using paceline::test::compute_times;
using paceline::test::TestJob;
using paceline::test::times_of_updates;
using paceline::test::two_workers;

TEST_CASE("after a start the first iterations are slower by a factor that falls to one") {
  // 4 iterations from 3: factors 3, 2.5, 2, 1.5, then 1: they end at 30, 55, 75, 90, 100 s; and again after a
  // switch.
  TestJob job = two_workers("asp", 60);
  job.workers = {{}};
  job.costs.ramp_up = {4, 3.0};
  CHECK(times_of_updates(job.run_ideal()) == std::vector{30.0, 55.0, 75.0, 90.0, 100.0, 110.0});
  job.phases = {{.policy = "asp", .length = UpdateCount{5}}, {.policy = "asp"}};
  CHECK(times_of_updates(job.run_ideal()) == std::vector{30.0, 55.0, 75.0, 90.0, 100.0, 130.0});
}

TEST_CASE(
    "a batch that a worker has not had before takes it longer, over its speed, and again after a switch") {
  // 4 s of preparation: 10 + 4 and 20 + 8 s, then 10 and 20; after the switch once more.
  TestJob job = two_workers("bsp", 80);
  job.workers[1].speed = 0.5;
  job.costs.preparation = Seconds{4.0};
  job.phases = {{.policy = "bsp", .length = UpdateCount{2}}, {.policy = "bsp"}};
  CHECK(times_of_updates(job.run_ideal()) == std::vector{28.0, 48.0, 76.0, 96.0});
}

TEST_CASE("what a controller sees of a new batch is what it takes with preparation, once for each size") {
  // Iterations of b / speed s, and 4 / speed s longer the first time that the worker has b samples.
  TestJob job = two_workers("bsp", 600);
  job.workers[1].speed = 0.5;
  job.batching.controller = "dynamic";
  job.costs.preparation = Seconds{4.0};
  const TestJob::Result result = job.run_ideal();
  std::map<GradientId, double> expected_s;
  std::set<std::pair<WorkerId, std::int64_t>> had;
  for (const auto& [time, start] : result.recording.all<StartIteration>()) {
    const bool is_new = had.emplace(start.worker, start.batch_samples).second;
    const double samples = static_cast<double>(start.batch_samples) + (is_new ? 4.0 : 0.0);
    expected_s[start.gradient] = samples / job.workers[start.worker.value].speed;
  }
  CHECK(had.size() > 2);
  std::size_t ended = 0;
  for (const test::Happened& happened : result.recording.events)
    if (const auto* one = std::get_if<IterationFinished>(&happened.event)) {
      CHECK(one->compute_time.value() == doctest::Approx(expected_s.at(one->gradient)));
      ++ended;
    }
  CHECK(ended > had.size());
}

TEST_CASE("who has waited takes longer for its next iteration, the longer it has waited") {
  // 10 and 30 s under BSP; 3 s longer after rests of 20 s, 2 s after those of 10: the fast worker rests for
  // 20 s and then takes 13 s, the slow one goes on at once. So updates come at 30, 60, 90 s, and the fast
  // worker rests for 17 s before its third iteration: 2 + 0.7 · 1 s longer.
  TestJob job = two_workers("bsp", 60);
  job.workers[1].speed = 1.0 / 3.0;
  job.costs.resume = {{Seconds{10.0}, Seconds{2.0}}, {Seconds{20.0}, Seconds{3.0}}};
  CHECK(times_of_updates(job.run_ideal()) == std::vector{30.0, 60.0, 90.0});
  std::vector<double> computed;
  for (const auto& happened : job.run_ideal().recording.events)
    if (const auto* iteration = std::get_if<IterationFinished>(&happened.event);
        iteration != nullptr && iteration->worker == WorkerId{0})
      computed.push_back(iteration->compute_time.value());
  REQUIRE(computed.size() == 3);
  CHECK(computed[0] == doctest::Approx(10.0));
  CHECK(computed[1] == doctest::Approx(13.0));
  CHECK(computed[2] == doctest::Approx(12.7));
}

TEST_CASE("between two rests the cost lies on a line, from nothing after none, and stays after the longest") {
  const std::vector<RestCost> costs = {{Seconds{10.0}, Seconds{2.0}}, {Seconds{20.0}, Seconds{3.0}}};
  CHECK(resume_after(Seconds{}, costs) == Seconds{});
  CHECK(resume_after(Seconds{5.0}, costs) == Seconds{1.0});
  CHECK(resume_after(Seconds{10.0}, costs) == Seconds{2.0});
  CHECK(resume_after(Seconds{15.0}, costs) == Seconds{2.5});
  CHECK(resume_after(Seconds{99.0}, costs) == Seconds{3.0});
  CHECK(resume_after(Seconds{99.0}, {}) == Seconds{});
}

TEST_CASE("going on at once takes no longer") {
  TestJob job = two_workers("asp", 60);
  job.workers = {{}};
  const std::vector<double> without = times_of_updates(job.run_ideal());
  job.costs.resume = {{Seconds{1e-3}, Seconds{6.0}}};
  CHECK(times_of_updates(job.run_ideal()) == without);
}

TEST_CASE("local steps go on after a rest once in a stretch, also where they are taken one by one") {
  // 4 steps of 10 and 20 s: the fast worker rests for 40 s before its second stretch, which takes it 3 s
  // longer, not 12; the slow one does not rest.
  TestJob job = two_workers("bsp", 160);
  job.workers[1].speed = 0.5;
  job.phases[0].local = LocalTraining{.steps = 4};
  job.costs.resume = {{Seconds{10.0}, Seconds{3.0}}};
  for (const Shortcuts shortcuts : {Shortcuts::on, Shortcuts::off}) {
    job.shortcuts = shortcuts;
    std::vector<Seconds> times = compute_times(job.run_ideal());
    std::ranges::sort(times);
    REQUIRE(times.size() == 4);
    CHECK(times[0].value() == doctest::Approx(40.0));
    CHECK(times[1].value() == doctest::Approx(43.0));
    CHECK(times[2].value() == doctest::Approx(80.0));
    CHECK(times[3].value() == doctest::Approx(80.0));
  }
}

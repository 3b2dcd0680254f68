// Work in flight follows when its worker's speed changes: the end is where the integral of the rate equals
// the work.
#include "sim/engine/computations.hpp"

#include <doctest/doctest.h>

#include "tests/support/test_job.hpp"

using namespace paceline;
using paceline::test::TestJob;

namespace {

constexpr WorkerId only_worker{0};

Computation ten_seconds_of_work() {
  return {.gradient = GradientId{5},
          .batch_samples = 10,
          .started = Seconds{},
          .work_left = Seconds{10.0},
          .rate = 1.0,
          .since = Seconds{}};
}

// When worker 0 of one has computed 10 s of work.
double end_of_first_iteration(const TestJob& job) {
  const TestJob::Result result = job.run_ideal();
  for (const auto& [time, event] : result.recording.events)
    if (std::holds_alternative<IterationFinished>(event)) return time.value();
  return -1.0;
}

TestJob one_worker() {
  TestJob job;
  job.workers = {{}};
  job.total_samples = 10;
  return job;
}

}  // namespace

TEST_CASE("10 s of work end at 16 s when the speed halves after 4 s") {
  // 4 · 1 + (t − 4) · ½ = 10  =>  t = 16
  Computations computations(1);
  CHECK(computations.start(only_worker, ten_seconds_of_work()).at == Seconds{10.0});
  const auto end = computations.change_rate(only_worker, Seconds{4.0}, 0.5);
  REQUIRE(end.has_value());
  CHECK(end->at == Seconds{16.0});
  // The first end does not count any more.
  CHECK_FALSE(computations.finish(only_worker, end->attempt - 1, Seconds{10.0}).done);
  const auto done = computations.finish(only_worker, end->attempt, end->at).done;
  REQUIRE(done.has_value());
  CHECK(done->started == Seconds{});
  CHECK(done->gradient == GradientId{5});
  CHECK_FALSE(computations.of(only_worker));
}

TEST_CASE("of two changes each counts from its own time") {
  // 4 · 1 + 6 · ½ + (t − 10) · 2 = 10  =>  t = 11.5
  Computations computations(1);
  static_cast<void>(computations.start(only_worker, ten_seconds_of_work()));
  static_cast<void>(computations.change_rate(only_worker, Seconds{4.0}, 0.5));
  CHECK(computations.change_rate(only_worker, Seconds{10.0}, 2.0)->at == Seconds{11.5});
}

TEST_CASE("a rate that stays, or no computation, moves no end, and what is called off has none") {
  Computations computations(2);
  const auto end = computations.start(only_worker, ten_seconds_of_work());
  CHECK_FALSE(computations.change_rate(only_worker, Seconds{4.0}, 1.0));
  CHECK_FALSE(computations.change_rate(WorkerId{1}, Seconds{4.0}, 0.5));
  computations.call_off(GradientId{4}, Seconds{4.0});
  CHECK(computations.of(only_worker));
  computations.call_off(GradientId{5}, Seconds{4.0});
  CHECK_FALSE(computations.of(only_worker));
  CHECK_FALSE(computations.finish(only_worker, end.attempt, end.at).done);
}

TEST_CASE("an iteration under way follows a level, a straggler and a trace") {
  // Halved from 4 s on: 16 s. A straggler of factor 4 from 4 to 12 s: 4 + 8/4 = 6 of 10 at 12 s: 16 s as
  // well.
  TestJob job = one_worker();
  job.heterogeneity.schedule = {{.at = Seconds{4.0}, .speeds = {0.5}}};
  CHECK(end_of_first_iteration(job) == 16.0);
  job.heterogeneity = {};
  job.heterogeneity.stragglers = {
      {.worker = 0, .from = Seconds{4.0}, .duration = Seconds{8.0}, .slowdown = 4.0}};
  CHECK(end_of_first_iteration(job) == 16.0);
  // 4 · 1 + 4 · ½ + (t − 8) · 4 = 10  =>  t = 9
  job.heterogeneity = {};
  job.heterogeneity.trace = {{Seconds{4.0}, 0, 0.5, {}}, {Seconds{8.0}, 0, 4.0, {}}};
  CHECK(end_of_first_iteration(job) == 9.0);
}

TEST_CASE("added latency delays what an iteration sends by latency times round trips") {
  // Two of three stragglers active at 10 s: 2 s · 3 + 1 s · 1 = 7 s: the gradient leaves at 17 s and arrives
  // at 28 s, 1000 B at 100 B/s and 1 s later. The computation itself is not slower.
  TestJob job = one_worker();
  job.network = {BytesPerSecond{100.0}, Seconds{1.0}, BytesPerSecond{100.0}};
  job.heterogeneity.stragglers = {
      {.worker = 0,
       .from = Seconds{0.0},
       .duration = Seconds{50.0},
       .added_latency = Seconds{2.0},
       .round_trips = 3.0},
      {.worker = 0, .from = Seconds{3.0}, .duration = Seconds{50.0}, .added_latency = Seconds{1.0}},
      {.worker = 0, .from = Seconds{1.0}, .duration = Seconds{8.0}, .added_latency = Seconds{9.0}}};
  CHECK(end_of_first_iteration(job) == 10.0);
  const auto updates = job.run_ideal().recording.all<Apply>();
  REQUIRE(updates.size() == 1);
  CHECK(updates[0].first == Seconds{28.0});
}

TEST_CASE("the same windows straggle under every policy") {
  // Worker 0 alone computes all the time; with one sample of 1 s an iteration of each window shows its speed.
  TestJob job;
  job.workers = {{}, {}};
  job.total_samples = 400;
  job.batching.initial_samples = 1;
  job.heterogeneity.random_stragglers =
      RandomStragglers{.probability = 0.4, .window = Seconds{16.0}, .slowdown = 2.0};
  const auto slow_windows = [&](const char* policy) {
    job.phases = {{.policy = policy}};
    std::vector<bool> slow(6, false);
    for (const auto& [time, event] : job.run_ideal().recording.events) {
      const auto* finished = std::get_if<IterationFinished>(&event);
      if (finished == nullptr || finished->worker != only_worker) continue;
      const auto window = static_cast<std::size_t>((time.value() - 0.5) / 16.0);
      if (window < slow.size()) slow[window] = finished->compute_time == Seconds{2.0};
    }
    return slow;
  };
  const std::vector<bool> expected = [&] {
    std::vector<bool> slow;
    for (std::uint64_t window = 0; window < 6; ++window)
      slow.push_back(RandomStream(job.seed, Purpose::straggler, 0, window).uniform() < 0.4);
    return slow;
  }();
  CHECK(slow_windows("asp") == expected);
  CHECK(slow_windows("bsp") == expected);
}

TEST_CASE(
    "an iteration under a quota is held up in each period, and a change of speed counts what was computed") {
  // 4 s of each 10 s. 10 s of work: 4 + 4 + 2, end at 22 s. At half the speed from 12 s on: 6 s are done by
  // then, the other 4 need 8 s of computing: 2 more until 14 s, 4 from 20 s, 2 from 30 s: end at 32 s.
  const CpuQuota quota{0.4, Seconds{10.0}};
  Computations computations(1, {QuotaClock(quota, 1, Seconds{})});
  CHECK(computations.start(only_worker, ten_seconds_of_work()).at.value() == 22.0);
  const auto end = computations.change_rate(only_worker, Seconds{12.0}, 0.5);
  REQUIRE(end.has_value());
  CHECK(end->at.value() == doctest::Approx(32.0).epsilon(1e-12));
}

TEST_CASE("spells change what iterations take, and not what a long job takes") {
  // Iterations of 10 s alone, spells of 35 s with a cv of 0.3 of the speed, whose mean is 1: 4,000 iterations
  // take 40,000 s · (1 ± 0.3 / sqrt(40,000 / 35)) = 40,000 ± 355 s. On a shared machine with one core for
  // each worker they take the same, draw by draw.
  TestJob job;
  job.workers = {{}};
  job.phases = {{.policy = "asp"}};
  job.total_samples = 40'000;
  job.heterogeneity.spells = Spells{0.3, Seconds{35.0}};
  const auto own = job.run_ideal();
  CHECK(std::abs(own.end.value() - 40'000.0) < 4.0 * 355.0);
  CHECK(own.end.value() != doctest::Approx(40'000.0).epsilon(1e-6));
  job.machines = {{.cores = 1, .is_shared = true}};
  CHECK(job.run_ideal().end.value() == doctest::Approx(own.end.value()).epsilon(1e-9));
}

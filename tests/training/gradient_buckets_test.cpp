// Gradients that are summed in buckets while the backward pass goes on.
#include <doctest/doctest.h>

#include "tests/support/test_job.hpp"

using namespace paceline;
using paceline::test::TestJob;
using paceline::test::times_of_updates;
using paceline::test::two_workers;

namespace {

// Iterations of 10 s. A ring of two sums B bytes in 2 · B/2 / bandwidth: 10 s for all 1000 bytes. 800 of them
// are ready after half of an iteration, the others at `rest_ready`.
TestJob ring_of_two(double rest_ready = 1.0) {
  TestJob job = two_workers("bsp", 60);
  job.phases.front().transport = Transport::ring;
  job.phases.front().buckets = BucketSizes{Bytes{500}, Bytes{500}};
  job.network = {BytesPerSecond{100.0}, Seconds{}, BytesPerSecond{100.0}};
  job.gradient_variables = {{Bytes{200}, rest_ready}, {Bytes{800}, 0.5}};
  return job;
}

// The same on a machine with a core for each worker, whose computations another class carries out.
TestJob on_one_machine(TestJob job, int cores = 2) {
  job.machines = {Machine{.cores = cores, .is_shared = true}};
  return job;
}

}  // namespace

TEST_CASE("variables fill buckets in the order of their gradients, until one holds its size") {
  // In order of readiness 30, 40, 50 and 60 bytes of 180: the first bucket is full (60 or more) with 30 + 40,
  // the second one (50 or more) with 50; what is left is the last. Who is not trained is in none.
  const std::vector<GradientBucket> buckets = gradient_buckets(
      {{Bytes{60}, 0.9}, {Bytes{50}, 0.8}, {Bytes{0}, 1.0}, {Bytes{40}, 0.7}, {Bytes{30}, 0.6}},
      {Bytes{60}, Bytes{50}});
  REQUIRE(buckets.size() == 3);
  CHECK(buckets[0].bytes == Bytes{70});
  CHECK(buckets[0].ready == 0.7);
  CHECK(buckets[1].bytes == Bytes{50});
  CHECK(buckets[1].ready == 0.8);
  CHECK(buckets[2].bytes == Bytes{60});
  CHECK(buckets[2].ready == 0.9);
}

TEST_CASE("of gradients that come together those of later variables are first in a bucket") {
  const std::vector<GradientBucket> buckets =
      gradient_buckets({{Bytes{10}, 0.5}, {Bytes{30}, 0.5}}, {Bytes{20}, Bytes{1}});
  REQUIRE(buckets.size() == 2);
  CHECK(buckets[0].bytes == Bytes{30});
  CHECK(buckets[1].bytes == Bytes{10});
}

TEST_CASE("a bucket is summed while the rest of the gradient is computed, the next one after it") {
  // 800 bytes from 5 to 13 s, computing ends at 10 s, 200 bytes from 13 to 15 s.
  CHECK(times_of_updates(ring_of_two().run_ideal()) == std::vector{15.0, 30.0, 45.0});
  CHECK(times_of_updates(on_one_machine(ring_of_two()).run_ideal()) == std::vector{15.0, 30.0, 45.0});
  TestJob at_once = ring_of_two();
  at_once.phases.front().buckets.reset();
  CHECK(times_of_updates(at_once.run_ideal()) == std::vector{20.0, 40.0, 60.0});
}

TEST_CASE("sums that are over before the iteration ends cost it nothing") {
  // At 1000 B/s: 800 bytes from 5 to 5.8 s, 200 bytes from 8 to 8.2 s.
  TestJob job = ring_of_two(0.8);
  job.network = {BytesPerSecond{1000.0}, Seconds{}, BytesPerSecond{1000.0}};
  CHECK(times_of_updates(job.run_ideal()) == std::vector{10.0, 20.0, 30.0});
  CHECK(times_of_updates(on_one_machine(job).run_ideal()) == std::vector{10.0, 20.0, 30.0});
}

TEST_CASE("a bucket waits for the slowest worker") {
  // At half speed it is ready at 10 s and summed until 18 s; the rest from 20 to 22 s.
  TestJob job = ring_of_two();
  job.workers = {{}, {.speed = 0.5}};
  CHECK(times_of_updates(job.run_ideal()) == std::vector{22.0, 44.0, 66.0});
  CHECK(times_of_updates(on_one_machine(job).run_ideal()) == std::vector{22.0, 44.0, 66.0});
}

TEST_CASE("workers that share a core get their buckets ready at half speed") {
  CHECK(times_of_updates(on_one_machine(ring_of_two(), 1).run_ideal()) == std::vector{22.0, 44.0, 66.0});
}

TEST_CASE("a quota holds up what is computed before a bucket is ready, too") {
  // Half of a core in short periods is half the speed, to within a period or two.
  TestJob job = ring_of_two();
  job.workers = {{}, {.quota = CpuQuota{.cores = 0.5, .period = Seconds{1e-3}}}};
  for (const TestJob& either : {job, on_one_machine(job)}) {
    const std::vector<double> times = times_of_updates(either.run_ideal());
    REQUIRE(times.size() == 3);
    for (std::size_t k = 0; k < 3; ++k)
      CHECK(std::abs(times[k] - 22.0 * static_cast<double>(k + 1)) < 2e-3 * static_cast<double>(k + 1));
  }
}

TEST_CASE("a change of speed moves what is left before a bucket is ready") {
  // At half speed from 4 s on: ready at 6 s, computed at 16 s; 800 bytes from 6 to 14 s, 200 from 16 to 18 s.
  TestJob job = ring_of_two();
  job.total_samples = 20;
  job.heterogeneity.schedule = {Level{.at = Seconds{4.0}, .speeds = {0.5, 0.5}}};
  CHECK(times_of_updates(job.run_ideal()) == std::vector{18.0});
  CHECK(times_of_updates(on_one_machine(job).run_ideal()) == std::vector{18.0});
}

TEST_CASE("what messages of a bucket take of a worker is work of its next iteration") {
  // Four messages of 0.5 s in each of two sums: the next iterations take 14 s. 15 s, then 800 bytes from 22
  // to 30 s, 200 bytes from 30 to 32 s; and so on.
  TestJob job = ring_of_two();
  job.costs.communication = {.per_message = Seconds{0.5}};
  CHECK(times_of_updates(job.run_ideal()) == std::vector{15.0, 32.0, 49.0});
  CHECK(times_of_updates(on_one_machine(job).run_ideal()) == std::vector{15.0, 32.0, 49.0});
}

TEST_CASE("added latency holds each bucket back") {
  // By 3 s: 800 bytes from 8 to 16 s, 200 bytes from 19 to 21 s.
  TestJob job = ring_of_two();
  job.heterogeneity.stragglers = {
      {.worker = 0, .from = Seconds{0.0}, .duration = Seconds{1e6}, .added_latency = Seconds{3.0}}};
  CHECK(times_of_updates(job.run_ideal()) == std::vector{21.0, 42.0, 63.0});
  CHECK(times_of_updates(on_one_machine(job).run_ideal()) == std::vector{21.0, 42.0, 63.0});
}

TEST_CASE("what an iteration begins with comes before any bucket is ready") {
  // The first one prepares for its batch for 4 s: its buckets are ready at 9 and 14 s. 800 bytes from 9 to
  // 17 s, 200 bytes until 19 s; then as without it.
  TestJob job = ring_of_two();
  job.costs.preparation = Seconds{4.0};
  CHECK(times_of_updates(job.run_ideal()) == std::vector{19.0, 34.0, 49.0});
  CHECK(times_of_updates(on_one_machine(job).run_ideal()) == std::vector{19.0, 34.0, 49.0});
}

TEST_CASE("a worker that leaves once it has computed owes nothing for buckets that are summed without it") {
  // It leaves at 12 s, when the first bucket is being summed, and joins at 20 s. Messages take 0.5 s each:
  // one with the parameters makes its next iteration take 10.5 s.
  TestJob job = ring_of_two();
  job.costs.communication = {.per_message = Seconds{0.5}};
  job.heterogeneity.membership = {{Seconds{12.0}, 1, MembershipEvent::leaves},
                                  {Seconds{20.0}, 1, MembershipEvent::joins}};
  for (const TestJob& either : {job, on_one_machine(job)}) {
    const TestJob::Result result = either.run_ideal();
    CHECK(times_of_updates(result).front() == 15.0);
    std::vector<double> began;
    for (const auto& [time, action] : result.recording.all<StartIteration>())
      if (action.worker == WorkerId{1}) began.push_back(time.value());
    std::vector<double> ended;
    for (const test::Happened& happened : result.recording.events)
      if (const auto* iteration = std::get_if<IterationFinished>(&happened.event))
        if (iteration->worker == WorkerId{1}) ended.push_back(happened.time.value());
    REQUIRE(began.size() >= 2);
    REQUIRE(ended.size() >= 2);
    CHECK(ended[1] - began[1] == doctest::Approx(10.5));
  }
}

TEST_CASE("when a worker leaves, the others begin to sum anew, with what they have computed") {
  // Three sum 800 bytes from 5 s on; one leaves at 7 s. Two need 8 s for them, until 15 s, and 2 s more.
  TestJob job = ring_of_two();
  job.workers = {{}, {}, {}};
  job.total_samples = 20;
  job.heterogeneity.membership = {{Seconds{7.0}, 2, MembershipEvent::leaves}};
  CHECK(times_of_updates(job.run_ideal()) == std::vector{17.0});
  CHECK(times_of_updates(on_one_machine(job, 3).run_ideal()) == std::vector{17.0});
}

TEST_CASE("a worker that joins takes part from the next update on, and the others' buckets wait for it") {
  // It joins at 3 or 7 s. Two sum 900 bytes from 5 to 14 s and 300 until 17 s. Then it is sent 1200 bytes
  // until 29 s and computes until 39 s; its first bucket is ready at 34 s. Three sum B bytes in
  // 4 · B/3 / 100 s: 900 from 34 to 46 s, 300 until 50 s.
  TestJob job = ring_of_two();
  job.gradient_variables = {{Bytes{300}, 1.0}, {Bytes{900}, 0.5}};
  job.parameter_bytes = Bytes{1200};
  job.workers = {{}, {}, {}};
  job.total_samples = 50;
  for (const double joins : {3.0, 7.0}) {
    job.heterogeneity.membership = {{Seconds{joins}, 2, MembershipEvent::joins}};
    CHECK(times_of_updates(job.run_ideal()) == std::vector{17.0, 50.0});
  }
}

// Gradients are being summed, bucket by bucket, when a worker leaves: on links that messages share.
#include <vector>

#include <doctest/doctest.h>

#include "sim/engine/fluid/fluid_timeline.hpp"
#include "sim/engine/simgrid/simgrid_timeline.hpp"
#include "tests/support/test_job.hpp"

using namespace paceline;
using paceline::test::TestJob;
using paceline::test::times_of_updates;

namespace {

// One update of iterations of 10 s. All 1200 bytes are ready after 5 s, links carry 100 B/s.
TestJob ring_of(std::size_t workers, const std::vector<std::uint64_t>& leave, Seconds at) {
  TestJob job;
  job.workers.assign(workers, {});
  job.phases.front().transport = Transport::ring;
  job.phases.front().buckets = BucketSizes{Bytes{1200}, Bytes{1200}};
  job.network = {BytesPerSecond{100.0}, Seconds{}, BytesPerSecond{100.0}};
  job.parameter_bytes = Bytes{1200};
  job.gradient_variables = {{Bytes{1200}, 0.5}};
  job.total_samples = 10;
  for (const std::uint64_t worker : leave)
    job.heterogeneity.membership.push_back({at, worker, MembershipEvent::leaves});
  return job;
}

double update_on(Timeline& timeline, const TestJob& job) {
  NoLearner learner;
  TestJob::Result result;
  job.run_on(timeline, learner, result);
  REQUIRE_FALSE(result.stalled.has_value());
  REQUIRE(result.updates == 1);
  return times_of_updates(result).front();
}

void check_update(const TestJob& job, double expected) {
  FluidTimeline fluid(job.cluster(), job.shortcuts);
  CHECK(update_on(fluid, job) == doctest::Approx(expected).epsilon(1e-9));
  CHECK(update_on(*make_simgrid_timeline(job.cluster()), job) == doctest::Approx(expected).epsilon(1e-9));
}

}  // namespace

TEST_CASE("a worker that leaves before the sum leaves nothing behind") {
  // Three sum 1200 bytes in 4 rounds of 400 bytes, 4 s each.
  check_update(ring_of(4, {3}, Seconds{4.0}), 5.0 + 16.0);
}

TEST_CASE("of a sum that is called off only what is under way still travels") {
  // Four send 300 bytes each from 5 s on; of those 200 are left when one leaves at 6 s. Each link that three
  // use anew carries one such message besides: 50 B/s for 4 s. Of the first 400 bytes 200 are left then: 2 s.
  check_update(ring_of(4, {3}, Seconds{6.0}), 6.0 + 4.0 + 2.0 + 3.0 * 4.0);
}

TEST_CASE("when two leave at once, one sum begins anew, of those who are left") {
  // Five send 240 bytes each from 5 s on; of those 140 are left at 6 s, and share links until 8.8 s. Of the
  // first 400 bytes of three 260 are left then.
  check_update(ring_of(5, {3, 4}, Seconds{6.0}), 6.0 + 2.8 + 2.6 + 3.0 * 4.0);
}

TEST_CASE("a sum that was held back when it was called off is never sent") {
  // Held back by 3 s from 5 s on; at 6 s two of four leave. Two sum from 9 s on, 600 bytes twice.
  TestJob job = ring_of(4, {2, 3}, Seconds{6.0});
  job.heterogeneity.stragglers = {
      {.worker = 0, .from = Seconds{0.0}, .duration = Seconds{1e6}, .added_latency = Seconds{3.0}}};
  check_update(job, 9.0 + 12.0);
}

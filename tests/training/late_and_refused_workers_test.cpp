// Workers that are late for a round, or for whom nothing is left to do: defects that random jobs have found.
#include <doctest/doctest.h>

#include "tests/support/test_job.hpp"

using namespace paceline;
using paceline::test::TestJob;

TEST_CASE("a late worker waits for the coordination of the update it was late for") {
  // One gradient of two is enough. Worker 0 is ready at 10 s, coordination takes 5 s: all go on at 15 s,
  // worker 1 too, whose gradient is dropped when it is ready, at 10 / 0.8 = 12.5 s.
  TestJob job;
  job.workers = {{1, 1.0}, {1, 0.8}};
  job.phases = {{.policy = {"backup-workers", {{"backups", 1}}}}};
  job.costs.coordination.per_step = Seconds{5.0};
  job.total_samples = 50;
  const auto result = job.run_ideal();
  CHECK_FALSE(result.stalled);
  CHECK(starts_of(result, 0) == std::vector{0.0, 15.0, 30.0, 45.0, 60.0});
  CHECK(starts_of(result, 1) == std::vector{0.0, 15.0, 30.0, 45.0, 60.0});
}

TEST_CASE("a worker that was refused work takes part in the next round once") {
  // Batches 13, 10, 7 by calibrated speed; in truth iterations take 13, 25 and 140 s. One gradient is enough.
  // At 13 s: 13 of 31 samples applied, 43 handed out. At 25 s worker 1's gradient is dropped: 33 are handed
  // out, so it is refused. At 26 s: 26 applied, worker 2 is called off, and all three begin another round,
  // each once.
  TestJob job;
  job.workers = {{1, 1.0}, {1, 0.8}, {1, 0.5}};
  job.batching.controller = "static";
  job.heterogeneity.schedule = {{.at = Seconds{0.0}, .workers = {1, 2}, .speeds = {0.5, 0.1}}};
  job.phases = {{.policy = {"backup-workers", {{"backups", 2}}}}};
  job.total_samples = 31;
  const auto result = job.run_ideal();
  CHECK_FALSE(result.stalled);
  CHECK(starts_of(result, 0) == std::vector{0.0, 13.0, 26.0});
  CHECK(starts_of(result, 1) == std::vector{0.0, 26.0});
  CHECK(starts_of(result, 2) == std::vector{0.0, 26.0});
  CHECK(result.applied_samples == 39);
}

TEST_CASE("K-sync does not wait for a worker that joins when nothing is left to hand out") {
  // Two workers, both gradients wanted. Worker 1 is away from 4 to 6 s; the other's 10 samples are all there
  // is.
  TestJob job;
  job.workers = {{}, {}};
  job.phases = {{.policy = {"k-sync", {{"gradients", 2}}}}};
  job.total_samples = 10;
  job.heterogeneity.membership = {{Seconds{4.0}, 1, MembershipEvent::leaves},
                                  {Seconds{6.0}, 1, MembershipEvent::joins}};
  const auto result = job.run_ideal();
  CHECK_FALSE(result.stalled);
  CHECK(result.end == Seconds{10.0});
  CHECK(result.updates == 1);
}

TEST_CASE("a worker that joined when nothing was left takes over what another one gives back") {
  // 20 samples, two gradients of three wanted. Worker 2 is away from 2 to 3 s, and finds all 20 handed out;
  // worker 1 leaves at 5 s, and worker 2 begins with what it gave back: the update of workers 0 and 2 comes
  // at 15 s.
  TestJob job;
  job.workers = {{}, {}, {}};
  job.phases = {{.policy = {"k-sync", {{"gradients", 2}}}}};
  job.total_samples = 20;
  job.heterogeneity.membership = {{Seconds{2.0}, 2, MembershipEvent::leaves},
                                  {Seconds{3.0}, 2, MembershipEvent::joins},
                                  {Seconds{5.0}, 1, MembershipEvent::leaves}};
  const auto result = job.run_ideal();
  CHECK_FALSE(result.stalled);
  CHECK(starts_of(result, 2) == std::vector{0.0, 5.0});
  const auto updates = result.recording.all<Apply>();
  REQUIRE(updates.size() == 1);
  CHECK(updates[0].first == Seconds{15.0});
  REQUIRE(updates[0].second.gradients.size() == 2);
  CHECK(updates[0].second.gradients[0].worker == WorkerId{0});
  CHECK(updates[0].second.gradients[1].worker == WorkerId{2});
}

TEST_CASE("what the end of a round gives back is not handed out before the next round") {
  // One gradient of three is enough; the server takes 4 s for a step. Worker 2 finds all 20 samples handed
  // out at 3 s. At 10 s the update of worker 0 is decided and worker 1 called off: all three begin the next
  // round at 14 s.
  TestJob job;
  job.workers = {{1, 1.0}, {1, 0.1}, {1, 1.0}};
  job.phases = {{.policy = {"k-sync", {{"gradients", 1}}}}};
  job.server_rate = BytesPerSecond{250.0};
  job.total_samples = 20;
  job.heterogeneity.membership = {{Seconds{2.0}, 2, MembershipEvent::leaves},
                                  {Seconds{3.0}, 2, MembershipEvent::joins}};
  const auto result = job.run_ideal();
  CHECK_FALSE(result.stalled);
  CHECK(starts_of(result, 0) == std::vector{0.0, 14.0});
  CHECK(starts_of(result, 1) == std::vector{0.0, 14.0});
  CHECK(starts_of(result, 2) == std::vector{0.0, 14.0});
}

TEST_CASE("a worker that was refused work has nothing to be called off") {
  // Found at random: two gradients of five are enough; workers are restarted one after the other before
  // K-sync, and its last rounds have less work than there are workers. Somebody was called off who had been
  // refused.
  TestJob job;
  job.workers = {{1, 2.28318702}, {1, 0.62331222}, {1, 1.61770064}, {1, 2.52328655}, {1, 1.17257153}};
  job.batching = {.controller = "static", .initial_samples = 7, .maximum_samples = 64};
  job.total_samples = 54;
  PhaseConfig bsp;
  bsp.transport = Transport::tree;
  bsp.length = ShareOfJob{1.0 / 3.0};
  job.phases = {bsp, {.policy = {"k-sync", {{"gradients", 2}}}}};
  job.costs.switching = {{}, {Seconds{8.04101796}, Seconds{1.82640038}, RestartOrder::sequential}};
  job.costs.coordination = {Seconds{0.69613591}, Seconds{1.75705989}, Seconds{0.00539892}};
  const auto result = job.run_ideal();
  CHECK_FALSE(result.stalled);
  CHECK(result.applied_samples >= 54);
}

// Workers that are late for a round, or for whom nothing is left to do: defects that random jobs have found.
#include <doctest/doctest.h>

#include "tests/support/test_job.hpp"

using namespace paceline;
using paceline::test::TestJob;

namespace {

std::vector<double> starts_of(const TestJob::Result& result, std::uint64_t worker) {
  std::vector<double> times;
  for (const auto& [time, start] : result.recording.all<StartIteration>())
    if (start.worker.value == worker) times.push_back(time.value());
  return times;
}

}  // namespace

TEST_CASE("a late worker waits for the coordination of the update it was late for") {
  // One gradient of two is enough. Worker 0 is ready at 10 s, coordination takes 5 s: all go on at 15 s, worker 1 too,
  // whose gradient is dropped when it is ready, at 10 / 0.8 = 12.5 s.
  TestJob job;
  job.workers = {{1, 1.0}, {1, 0.8}};
  job.phases = {{.policy = SynchronizationKind::backup_workers, .backups = 1}};
  job.costs.coordination.per_step = Seconds{5.0};
  job.total_samples = 50;
  const auto result = job.run_ideal();
  CHECK_FALSE(result.stalled);
  CHECK(starts_of(result, 0) == std::vector{0.0, 15.0, 30.0, 45.0, 60.0});
  CHECK(starts_of(result, 1) == std::vector{0.0, 15.0, 30.0, 45.0, 60.0});
}

TEST_CASE("a worker that was refused work takes part in the next round once") {
  // Batches 13, 10, 7 by calibrated speed; in truth iterations take 13, 25 and 140 s. One gradient is enough.
  // At 13 s: 13 of 31 samples applied, 43 handed out. At 25 s worker 1's gradient is dropped: 33 are handed out, so
  // it is refused. At 26 s: 26 applied, worker 2 is called off, and all three begin another round, each once.
  TestJob job;
  job.workers = {{1, 1.0}, {1, 0.8}, {1, 0.5}};
  job.batching.controller = BatchControllerKind::static_by_throughput;
  job.heterogeneity.schedule = {{.at = Seconds{0.0}, .workers = {1, 2}, .speeds = {0.5, 0.1}}};
  job.phases = {{.policy = SynchronizationKind::backup_workers, .backups = 2}};
  job.total_samples = 31;
  const auto result = job.run_ideal();
  CHECK_FALSE(result.stalled);
  CHECK(starts_of(result, 0) == std::vector{0.0, 13.0, 26.0});
  CHECK(starts_of(result, 1) == std::vector{0.0, 26.0});
  CHECK(starts_of(result, 2) == std::vector{0.0, 26.0});
  CHECK(result.applied_samples == 39);
}

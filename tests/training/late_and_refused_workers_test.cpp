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

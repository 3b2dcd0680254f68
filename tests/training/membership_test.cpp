// Workers that leave and join: their work is done once, by somebody, and a job without workers says so.
#include <map>
#include <set>

#include <doctest/doctest.h>

#include "tests/support/test_job.hpp"

using namespace paceline;
using paceline::test::TestJob;

namespace {

constexpr auto leaves = MembershipEvent::leaves;
constexpr auto joins = MembershipEvent::joins;

// Workers that take part in each update, with its time.
std::vector<std::pair<double, std::vector<std::uint64_t>>> updates_of(const TestJob::Result& result) {
  std::vector<std::pair<double, std::vector<std::uint64_t>>> updates;
  for (const auto& [time, update] : result.recording.all<Apply>()) {
    std::vector<std::uint64_t> workers;
    for (const AppliedGradient& gradient : update.gradients) workers.push_back(gradient.worker.value);
    updates.emplace_back(time.value(), workers);
  }
  return updates;
}

using Updates = std::vector<std::pair<double, std::vector<std::uint64_t>>>;

// Every gradient started is applied once or discarded once.
void check_no_work_is_lost_or_repeated(const TestJob::Result& result) {
  std::map<std::uint64_t, int> ends;
  for (const auto& [time, start] : result.recording.all<StartIteration>()) ends[start.gradient.value] = 0;
  for (const auto& [time, update] : result.recording.all<Apply>())
    for (const AppliedGradient& gradient : update.gradients) ++ends.at(gradient.gradient.value);
  for (const auto& [time, discard] : result.recording.all<Discard>()) ++ends.at(discard.gradient.value);
  for (const auto& [gradient, times] : ends) CHECK(times == 1);
}

}  // namespace

TEST_CASE("what a worker that leaves had under way is done again by another one, and nothing twice") {
  // ASP, 10 s an iteration, 60 samples. Worker 1 leaves at 25 s with 2 of its 3 gradients applied: the third
  // is given back and done by worker 0, which would have stopped at 30 s: updates at 10, 10, 20, 20, 30, 40
  // s.
  TestJob job;
  job.workers = {{}, {}};
  job.phases = {{.policy = "asp"}};
  job.total_samples = 60;
  job.heterogeneity.membership = {{Seconds{25.0}, 1, leaves}};
  const auto result = job.run_ideal();
  CHECK(updates_of(result) == Updates{{10, {0}}, {10, {1}}, {20, {0}}, {20, {1}}, {30, {0}}, {40, {0}}});
  CHECK(result.recording.all<Discard>().size() == 1);
  CHECK(result.applied_samples == 60);
  check_no_work_is_lost_or_repeated(result);
}

TEST_CASE("a BSP round goes on without a worker that leaves, and ends at once if it was the last awaited") {
  // Worker 2 takes 40 s. It leaves at 25 s: the round of the other two, ready since 10 s, ends then. 60
  // samples: the first round applies 20, then two more rounds of two workers and 10 s each.
  TestJob job;
  job.workers = {{1, 1.0}, {1, 1.0}, {1, 0.25}};
  job.total_samples = 60;
  job.heterogeneity.membership = {{Seconds{25.0}, 2, leaves}};
  const auto result = job.run_ideal();
  CHECK(updates_of(result) == Updates{{25, {0, 1}}, {35, {0, 1}}, {45, {0, 1}}});
  check_no_work_is_lost_or_repeated(result);
}

TEST_CASE("a worker that joins under BSP takes part from the next round on, under ASP at once") {
  // It joins at 4 s. BSP: rounds at 10 {0}, 20 {0, 1}. ASP: its first gradient is ready at 14 s.
  TestJob job;
  job.workers = {{}, {}};
  job.total_samples = 30;
  job.heterogeneity.membership = {{Seconds{4.0}, 1, joins}};
  CHECK(updates_of(job.run_ideal()) == Updates{{10, {0}}, {20, {0, 1}}});
  job.phases[0].policy = "asp";
  CHECK(updates_of(job.run_ideal()) == Updates{{10, {0}}, {14, {1}}, {20, {0}}});
}

TEST_CASE("a worker that joins pulls first, from the server or from another worker") {
  // 1000 B at 100 B/s: the pull takes 10 s. Under ASP worker 1, there at 4 s, starts at 14 s. Over a ring it
  // is sent all parameters by worker 0 when the round of that ends, at 10 s, and starts at 20 s.
  TestJob job;
  job.workers = {{}, {}};
  job.network = {BytesPerSecond{100.0}, Seconds{0.0}, BytesPerSecond{100.0}};
  job.phases = {{.policy = "asp"}};
  job.heterogeneity.membership = {{Seconds{4.0}, 1, joins}};
  const auto first_start_of_1 = [](const TestJob::Result& result) {
    for (const auto& [time, start] : result.recording.all<StartIteration>())
      if (start.worker == WorkerId{1}) return time.value();
    return -1.0;
  };
  CHECK(first_start_of_1(job.run_ideal()) == 14.0);
  job.phases = {{.transport = Transport::ring}};
  const auto ring = job.run_ideal();
  CHECK(first_start_of_1(ring) == 20.0);
  const auto pulls = ring.recording.all<SendParameters>();
  REQUIRE(pulls.size() == 1);
  CHECK(pulls[0].second.from_worker == WorkerId{0});
}

TEST_CASE("a gradient that is being applied counts even if its worker leaves meanwhile") {
  // ASP: ready at 10 s, applied from 10 to 14 s, its worker leaves at 12 s.
  TestJob job;
  job.workers = {{1, 1.0}, {1, 0.5}};
  job.phases = {{.policy = "asp"}};
  job.server_rate = BytesPerSecond{250.0};
  job.total_samples = 20;
  job.heterogeneity.membership = {{Seconds{12.0}, 0, leaves}};
  const auto result = job.run_ideal();
  CHECK(updates_of(result) == Updates{{14, {0}}, {24, {1}}});
  check_no_work_is_lost_or_repeated(result);
}

TEST_CASE("a job whose last worker leaves stalls: every worker has left") {
  for (const SynchronizationChoice& policy : std::vector<SynchronizationChoice>{
           "bsp", "asp", {"k-sync", {{"gradients", 1}}}, {"backup-workers", {{"backups", 1}}}}) {
    TestJob job;
    job.workers = {{}, {}};
    job.phases = {{.policy = policy}};
    job.heterogeneity.membership = {{Seconds{25.0}, 0, leaves}, {Seconds{32.0}, 1, leaves}};
    const auto result = job.run_ideal();
    REQUIRE(result.stalled);
    CHECK(result.stalled->at == Seconds{32.0});
    CHECK(result.stalled->waiting.starts_with("every worker has left the job; "));
    CHECK(result.stalled->waiting.find("of 400 samples are applied") != std::string::npos);
    CHECK(result.stalled->waiting.find("worker 0 is not there\nworker 1 is not there\n") !=
          std::string::npos);
    check_no_work_is_lost_or_repeated(result);
  }
}

TEST_CASE("a job whose workers have all left goes on when one joins later") {
  // ASP: both leave at 15 s, with one gradient each applied; worker 1 is back at 100 s and does the other 20
  // samples.
  for (const SynchronizationChoice& policy : std::vector<SynchronizationChoice>{
           "asp", "bsp", {"k-sync", {{"gradients", 2}}}, {"backup-workers", {{"backups", 0}}}}) {
    CAPTURE(policy->word);
    TestJob job;
    job.workers = {{}, {}};
    job.phases = {{.policy = policy}};
    job.total_samples = 40;
    job.heterogeneity.membership = {
        {Seconds{15.0}, 0, leaves}, {Seconds{15.0}, 1, leaves}, {Seconds{100.0}, 1, joins}};
    const auto result = job.run_ideal();
    CHECK_FALSE(result.stalled);
    CHECK(result.end == Seconds{120.0});
    CHECK(result.applied_samples == 40);
    check_no_work_is_lost_or_repeated(result);
  }
}

TEST_CASE("workers leave and join at a progress or an epoch, with the update that reaches it") {
  // BSP rounds of 20 samples and 10 s. At half of 80 samples, after 20 s, worker 1 leaves: rounds of one from
  // then on.
  TestJob job;
  job.workers = {{}, {}};
  job.total_samples = 80;
  for (const Moment& moment : {Moment(AtProgress{0.5}), Moment(AtEpoch{0.5})}) {
    job.heterogeneity.membership = {{moment, 1, leaves}};
    CHECK(updates_of(job.run_ideal()) ==
          Updates{{10, {0, 1}}, {20, {0, 1}}, {30, {0}}, {40, {0}}, {50, {0}}, {60, {0}}});
  }
}

TEST_CASE("what changes at a progress changes with the update, not with what happens next") {
  // Messages take 1 s: updates at 11 and 23 s, and the next event would be parameters that arrive at 24 s.
  TestJob job;
  job.workers = {{}, {}};
  job.total_samples = 80;
  job.network.latency = Seconds{1.0};
  job.heterogeneity.membership = {{AtProgress{0.5}, 1, leaves}};
  std::vector<Seconds> left;
  for (const auto& [time, event] : job.run_ideal().recording.events)
    if (std::holds_alternative<WorkerLeft>(event)) left.push_back(time);
  CHECK(left == std::vector{Seconds{23.0}});
}

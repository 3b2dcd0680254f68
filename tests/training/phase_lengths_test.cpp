// Phases that end after so many updates, epochs or seconds.
#include <doctest/doctest.h>

#include "tests/support/test_job.hpp"

using namespace paceline;
using paceline::test::TestJob;

namespace {

struct Counts {
  std::uint64_t updates = 0;
  std::int64_t samples = 0;
};

// Before and after the second phase was entered.
std::pair<Counts, Counts> by_phase(const TestJob::Result& result) {
  std::pair<Counts, Counts> counts;
  std::size_t phase = 0;
  for (const auto& [time, action] : result.recording.actions) {
    if (const auto* enter = std::get_if<EnterPhase>(&action)) phase = enter->phase;
    const auto* apply = std::get_if<Apply>(&action);
    if (apply == nullptr) continue;
    Counts& of_phase = phase == 0 ? counts.first : counts.second;
    ++of_phase.updates;
    for (const AppliedGradient& gradient : apply->gradients) of_phase.samples += gradient.batch_samples;
  }
  return counts;
}

}  // namespace

TEST_CASE("Sync-Switch: 400 BSP updates, then ASP for the rest of the workload") {
  // 8 workers with batches of 10: 400 · 80 = 32,000 of 40,000 samples under BSP, the other 8,000 in 800 ASP
  // updates: global step 1200.
  TestJob job;
  job.workers.assign(8, {});
  job.workers[3].speed = 0.6;
  job.phases = {{.length = UpdateCount{400}}, {.policy = "asp"}};
  job.total_samples = 40000;
  const auto result = job.run_ideal();
  const auto [bsp, asp] = by_phase(result);
  CHECK(bsp.updates == 400);
  CHECK(bsp.samples == 32000);
  CHECK(asp.updates == 800);
  CHECK(asp.samples == 8000);
  CHECK(result.updates == 1200);
}

TEST_CASE("a phase of so many updates counts each push of ASP and each round of K-sync") {
  TestJob job;
  job.total_samples = 2000;
  job.phases = {{.policy = "asp", .length = UpdateCount{7}}, {}};
  CHECK(by_phase(job.run_ideal()).first.updates == 7);
  job.workers = {{1, 1.0}, {1, 0.9}, {1, 0.8}, {1, 0.7}};
  job.phases[0] = {.policy = {"k-sync", {{"gradients", 3}}}, .length = UpdateCount{7}};
  const auto [k_sync, bsp] = by_phase(job.run_ideal());
  CHECK(k_sync.updates == 7);
  CHECK(k_sync.samples == 7 * 30);
}

TEST_CASE("a phase of epochs ends with the round that completes them") {
  // An epoch is all 400 samples; 0.25 epochs: 100 samples, in rounds of 40: 120.
  TestJob job;
  job.phases = {{.length = EpochCount{0.25}}, {.policy = "asp"}};
  const auto [bsp, asp] = by_phase(job.run_ideal());
  CHECK(bsp.samples == 120);
  CHECK(asp.samples == 280);
  // Under ASP work is handed out one by one: exactly 100.
  job.phases = {{.policy = "asp", .length = EpochCount{0.25}}, {}};
  CHECK(by_phase(job.run_ideal()).first.samples == 100);
}

TEST_CASE("a phase of time hands out nothing after it, and ends when what is under way is applied") {
  // Rounds of 10 s, 25 s: the third round is under way, and ends the phase at 30 s.
  TestJob job;
  job.phases = {{.length = Seconds{25.0}}, {.policy = "asp"}};
  const auto result = job.run_ideal();
  CHECK(by_phase(result).first.updates == 3);
  const auto phases = result.recording.all<EnterPhase>();
  REQUIRE(phases.size() == 2);
  CHECK(phases[1].first == Seconds{30.0});
}

TEST_CASE("the time of a phase counts from when it is entered, after its pause") {
  // A start-up of 100 s, then 25 s of BSP: entered at 100 s, three rounds, over at 130 s.
  TestJob job;
  job.costs.start_up = RestartCost{.time = Seconds{100.0}};
  job.phases = {{.length = Seconds{25.0}}, {.policy = "asp"}};
  const auto result = job.run_ideal();
  CHECK(by_phase(result).first.updates == 3);
  const auto phases = result.recording.all<EnterPhase>();
  REQUIRE(phases.size() == 2);
  CHECK(phases[0].first == Seconds{100.0});
  CHECK(phases[1].first == Seconds{130.0});
}

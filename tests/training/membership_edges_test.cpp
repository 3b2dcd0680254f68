// What once went wrong at the edges of membership, pauses and phases; one case for each.
#include <doctest/doctest.h>

#include "sim/report/recording/run_recorder.hpp"
#include "tests/support/test_job.hpp"

using namespace paceline;
using paceline::test::TestJob;

TEST_CASE("a BSP newcomer goes on when everybody else leaves before their round ends") {
  // Worker 0 computes 10 s a round; 1 joins in the middle of the first round, 0 leaves before its end.
  // Nothing of that round is left: worker 1 does all 100 samples, alone, from 5 s on: ten rounds of 10 s.
  TestJob job;
  job.workers = {{}, {}};
  job.total_samples = 100;
  job.heterogeneity.membership = {{Seconds{3.0}, 1, MembershipEvent::joins},
                                  {Seconds{5.0}, 0, MembershipEvent::leaves}};
  const auto result = job.run_ideal();
  CHECK_FALSE(result.stalled.has_value());
  CHECK(result.applied_samples == 100);
  CHECK(result.end.value() == doctest::Approx(105.0));
}

TEST_CASE("a timed last phase does not hide that every worker has left") {
  TestJob job;
  job.workers = {{}};
  job.phases = {{.policy = "asp", .length = Seconds{1000.0}}};
  job.heterogeneity.membership = {{Seconds{25.0}, 0, MembershipEvent::leaves}};
  const auto result = job.run_ideal();
  REQUIRE(result.stalled.has_value());
  CHECK(result.stalled->waiting.starts_with("every worker has left"));
  CHECK(result.stalled->at == Seconds{25.0});  // the timer that goes off later moves nothing
}

TEST_CASE("a worker that joins during a switch pauses like the others, not later") {
  // BSP to 40 samples (10 s), 10 s of switch, ASP. Worker 1 joins at 15 s: its own switch ends at 25 s, and
  // it starts then.
  TestJob job;
  job.workers = {{}, {}};
  job.batching.initial_samples = 10;
  job.total_samples = 400;
  job.phases = {{.length = ShareOfJob{0.025}}, {.policy = "asp", .length = ShareOfJob{0.975}}};
  job.costs.switching = {{}, {.time = Seconds{10.0}}};
  job.heterogeneity.membership = {{Seconds{15.0}, 1, MembershipEvent::joins}};
  const auto result = job.run_ideal();
  for (const auto& [time, start] : result.recording.all<StartIteration>())
    if (start.worker == WorkerId{1}) {
      CHECK(time.value() == doctest::Approx(25.0));
      break;
    }
  CHECK(result.applied_samples == 400);
}

TEST_CASE("the chief pays no checkpoint for work it does not get") {
  // ASP of one worker, checkpoint every 4 updates, 8 updates: due after the 4th and the 8th; after the 8th
  // nothing is left to go on with.
  TestJob job;
  job.workers = {{}};
  job.total_samples = 80;
  job.phases = {{.policy = "asp"}};
  job.checkpoint_every = Every{4.0, EveryUnit::updates};
  job.costs.checkpoint = Seconds{7.0};
  const auto result = job.run_ideal();
  CHECK(result.recording.all<Pause>().size() == 1);
  CHECK(result.end.value() == doctest::Approx(87.0));
}

TEST_CASE("what added latency holds back is not sent after it was called off") {
  // K-sync of 1: worker 0 needs 10 s, worker 1 10.5 s and then 2 s before its gradient leaves; the round is
  // over at 10 s.
  TestJob job;
  job.workers = {{}, {1, 10.0 / 9.5}};
  job.total_samples = 100;
  job.phases = {{.policy = {"k-sync", {{"gradients", 1}}}}};
  job.heterogeneity.stragglers = {{.worker = 1,
                                   .from = Seconds{0.0},
                                   .duration = Seconds{1e6},
                                   .slowdown = 1.0,
                                   .added_latency = Seconds{2.0},
                                   .round_trips = 1.0}};
  const auto result = job.run_ideal();
  for (const auto& happened : result.recording.events)
    if (const auto* arrived = std::get_if<GradientArrived>(&happened.event))
      CHECK(arrived->worker == WorkerId{0});
  CHECK(result.applied_samples == 100);
}

TEST_CASE("a worker absent at the start is away, not waiting") {
  TestJob job;
  job.workers = {{}, {}};
  job.total_samples = 100;
  job.phases = {{.policy = "asp"}};
  job.heterogeneity.membership = {{Seconds{15.0}, 1, MembershipEvent::joins}};
  RunRecorder recorder(job.seed, {});
  job.observer = &recorder;
  const auto result = job.run_ideal();
  const RunResult run = recorder.finish(result.end, std::nullopt);
  CHECK(run.attribution.at(1).at(static_cast<std::size_t>(Activity::away)).value() == doctest::Approx(15.0));
}

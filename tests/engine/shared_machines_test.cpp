// Processes that share a machine, against times one can work out by hand.
#include "sim/engine/shared_machines.hpp"

#include <algorithm>
#include <cmath>
#include <vector>

#include <doctest/doctest.h>

#include "sim/engine/fluid/fluid_timeline.hpp"
#include "tests/support/test_job.hpp"
#include "tests/support/update_times.hpp"

using namespace paceline;
using paceline::test::check_times;
using paceline::test::TestJob;
using paceline::test::updates_of;

namespace {

Machine shared(int cores, std::vector<double> speeds = {}) {
  return {.cores = cores, .is_shared = true, .speeds = std::move(speeds)};
}

// Batches of 10 samples of 1 s under ASP without communication: of each worker, when its updates happen.
TestJob at_own_pace(std::vector<Worker> workers, Machine machine, std::int64_t samples) {
  TestJob job;
  job.workers = std::move(workers);
  job.phases = {{.policy = "asp"}};
  job.machines = {std::move(machine)};
  job.total_samples = samples;
  return job;
}

TestJob bsp_job(std::vector<Worker> workers) {
  TestJob job;
  job.workers = std::move(workers);
  job.total_samples = 10 * 10 * static_cast<std::int64_t>(job.workers.size());
  return job;
}

}  // namespace

TEST_CASE(
    "two equal workers on one core take exactly twice as long under BSP, three on two half as long again") {
  TestJob job = bsp_job({{}, {}});
  const double alone = job.run_ideal().end.value();
  CHECK(alone == 100.0);
  job.machines = {shared(1)};
  CHECK(job.run_ideal().end.value() == 2.0 * alone);
  TestJob three = bsp_job({{}, {}, {}});
  three.machines = {shared(2)};
  CHECK(three.run_ideal().end.value() == doctest::Approx(1.5 * alone));
}

TEST_CASE("a shared machine with a core for each process, or that nobody shares, changes nothing") {
  for (const char* policy : {"bsp", "asp"}) {
    TestJob job = bsp_job({{1, 1.0}, {1, 0.7}, {1, 0.3}});
    job.phases = {{.policy = policy}};
    job.server_rate = BytesPerSecond{500.0};
    job.jitter.iteration_cv = 0.3;
    const double alone = job.run_ideal().end.value();
    job.machines = {shared(4)};
    job.machines[0].hosts_servers = true;
    CHECK(job.run_ideal().end.value() == doctest::Approx(alone).epsilon(1e-12));
    job.machines = {shared(1, {1.0, 0.5})};
    job.machines[0].workers = {1};
    CHECK(job.run_ideal().end.value() == doctest::Approx(alone).epsilon(1e-12));
  }
}

TEST_CASE("unequal workers share one core in equal parts until the shorter work is done") {
  // Work 10 and 40 s (speed 1/4), each at half speed. Worker 0: ends at 20, 40, 60, 80. Worker 1 has then
  // done 40 s: it ends at 80 as well. With BSP: worker 0 at 20 s, then worker 1, which has 30 s left, alone:
  // 50 s.
  const auto result = at_own_pace({{}, {1, 0.25}}, shared(1), 50).run_ideal();
  check_times(updates_of(result, 0), {20, 40, 60, 80});
  check_times(updates_of(result, 1), {80});
  TestJob job = bsp_job({{}, {1, 0.25}});
  job.total_samples = 20;
  job.machines = {shared(1)};
  CHECK(job.run_ideal().end.value() == 50.0);
}

TEST_CASE("measured speeds hold for as many as are busy") {
  // s = 1, 0.8. Work 10 and 40 s under BSP: both at 0.8 until 12.5 s, then 30 s alone: 42.5 s.
  TestJob job = bsp_job({{}, {1, 0.25}});
  job.total_samples = 20;
  job.machines = {shared(2, {1.0, 0.8})};
  CHECK(job.run_ideal().end.value() == doctest::Approx(42.5));
}

TEST_CASE("a worker counts with its cores") {
  // Two and one busy cores on two: s(3) = 2/3 for both. The worker of two cores is alone as fast as ever.
  SharedMachine::Resident wide{WorkerId{0}, 2, 1.0};
  const std::vector<SharedMachine> machines = {{MachineSpeed(2, {}), {wide, {WorkerId{1}, 1, 1.0}}, {}}};
  SharedMachines together(machines, 2, 0, {});
  test::Recording unheard;
  std::vector<MachineDue> dues;
  std::vector<double> dates;
  const auto schedule = [&](Seconds date, const MachineDue& due) {
    dates.push_back(date.value());
    dues.push_back(due);
  };
  for (std::uint64_t w = 0; w < 2; ++w)
    together.start(
        WorkerId{w},
        {.gradient = GradientId{w}, .started = {}, .work_left = Seconds{w == 0 ? 10.0 : 4.0}, .since = {}},
        {});
  together.settle(Seconds{}, schedule);
  // Worker 1: 4 / (2/3) = 6 s. Worker 0 has 6 of 10 s left then: until 12 s.
  CHECK(dates.back() == doctest::Approx(6.0));
  std::vector<Event> events;
  together.finish(dues.back(), Seconds{dates.back()}, events, unheard);
  together.settle(Seconds{dates.back()}, schedule);
  CHECK(dates.back() == doctest::Approx(12.0));
}

TEST_CASE("a quota counts processor time, so that sharing leaves it unused") {
  // Quotas of half a core in each 10 s: the half that each of two workers on one core gets anyway. 200 times
  // 10 s of work on one core take 2000 s, with quotas or without, and not 4000; only at the very end one is
  // left, and held up for up to 10 s.
  const CpuQuota half{0.5, Seconds{10.0}};
  Worker limited;
  limited.quota = half;
  TestJob job = at_own_pace({limited, limited}, shared(1), 10 * 200);
  const double with_quota = job.run_ideal().end.value();
  job.workers = {{}, {}};
  const double without = job.run_ideal().end.value();
  CHECK(without == 2000.0);
  CHECK(with_quota == doctest::Approx(without).epsilon(5e-3));
}

TEST_CASE("who is held up by a quota leaves the core to the other") {
  // Two workers on one core, one with 2 s in each 10 s. Over a long time it gets these 2 s, and the other one
  // the remaining 8: 0.2 and 0.8 of the core.
  Worker limited;
  limited.quota = CpuQuota{0.2, Seconds{10.0}};
  const auto result = at_own_pace({limited, {}}, shared(1), 10 * 2000).run_ideal();
  const auto slow = static_cast<double>(updates_of(result, 0).size());
  const auto fast = static_cast<double>(updates_of(result, 1).size());
  CHECK(slow / (slow + fast) == doctest::Approx(0.2).epsilon(0.01));
  CHECK(result.end.value() == doctest::Approx(10.0 * 2000).epsilon(0.01));
}

TEST_CASE("a server beside one worker is slowed down by it, and slows it down") {
  // One core. Worker 0 (10 s) pushes at 20 s, worker 1 (30 s of work) computes meanwhile: both at 1/2, 10 s
  // of it done. The server's step of 4 s takes 8 s, until 28 s: worker 1 has 16 s left then. Parameters are
  // there at once, worker 0 begins again: both at 1/2 for 20 s, until 48 s.
  TestJob job = at_own_pace({{}, {1, 1.0 / 3.0}}, shared(1), 30);
  job.machines[0].hosts_servers = true;
  job.server_rate = BytesPerSecond{250.0};
  const auto result = job.run_ideal();
  REQUIRE(result.recording.server_work.size() == 3);
  CHECK(result.recording.server_work[0].begin.value() == doctest::Approx(20.0));
  CHECK(result.recording.server_work[0].end.value() == doctest::Approx(28.0));
  CHECK(result.recording.server_work[1].begin.value() == doctest::Approx(48.0));
  // A server elsewhere takes its 4 s, and slows nobody down.
  job.machines[0].hosts_servers = false;
  const auto elsewhere = job.run_ideal();
  CHECK(elsewhere.recording.server_work[0].end.value() == doctest::Approx(24.0));
}

TEST_CASE("a server serves in order, at the speed of a machine that others leave to it") {
  // Three workers on one core end together at 30 s. The server's three steps of 4 s follow one another: the
  // first alone (nobody computes), then beside the workers that go on: 4 s beside one takes 8, beside two 12.
  TestJob job = at_own_pace({{}, {}, {}}, shared(1), 30);
  job.machines[0].hosts_servers = true;
  job.server_rate = BytesPerSecond{250.0};
  const auto result = job.run_ideal();
  REQUIRE(result.recording.server_work.size() == 3);
  std::vector<double> ends;
  for (const auto& work : result.recording.server_work) ends.push_back(work.end.value());
  check_times(ends, {34, 38, 42});  // 30 samples: nobody goes on
  job.total_samples = 60;
  const auto longer = job.run_ideal();
  CHECK(longer.recording.server_work[0].end.value() == doctest::Approx(34.0));
  CHECK(longer.recording.server_work[1].end.value() == doctest::Approx(42.0));
  CHECK(longer.recording.server_work[2].end.value() == doctest::Approx(54.0));
}

TEST_CASE("a worker that rests is busy for its share of the time only") {
  // Speeds 1 and 1/2 on a machine with s = 1, 0.5; 10 s of computing each. BSP: both compute at 0.5 until 20
  // s, then worker 1 rests as long as it computed: 40 s. If it computed all the time: until 20 s both, with
  // 10 of its 20 s of work done, then alone: 30 s.
  TestJob job = bsp_job({{}, {1, 0.5}});
  job.total_samples = 20;
  job.machines = {shared(2, {1.0, 0.5})};
  CHECK(job.run_ideal().end.value() == doctest::Approx(30.0));
  job.machines[0].slow_workers = SlowWorkers::rest;
  CHECK(job.run_ideal().end.value() == doctest::Approx(40.0));
  // While it rests worker 0 is alone. ASP: until 20 s both compute; worker 0 then takes 10 s for each of two
  // iterations while worker 1 rests, and from 40 s on both compute again.
  job.phases = {{.policy = "asp"}};
  job.total_samples = 60;
  const auto result = job.run_ideal();
  check_times(updates_of(result, 0), {20, 30, 40, 60});
  check_times(updates_of(result, 1), {40, 80});
}

TEST_CASE("what speeds a worker up does not spare it the rests of its own slowness") {
  // Speed 1/2, at rest half of the time, on a core of its own: 10 s of computing and 10 s of rest. At
  // twice the speed: 5 s and 5 s.
  TestJob job = at_own_pace({{1, 0.5}}, shared(1), 20);
  job.machines[0].slow_workers = SlowWorkers::rest;
  job.heterogeneity.stragglers = {
      {.worker = 0, .from = Seconds{}, .duration = Seconds{1000.0}, .slowdown = 0.5}};
  check_times(updates_of(job.run_ideal(), 0), {10, 20});
}

TEST_CASE("an iteration on a shared machine took what passed since it began") {
  // Two equal workers on one core: every iteration takes 20 s, the second one from 20 to 40 s.
  const auto result = at_own_pace({{}, {}}, shared(1), 40).run_ideal();
  std::vector<double> times;
  for (const auto& [time, event] : result.recording.events)
    if (const auto* finished = std::get_if<IterationFinished>(&event))
      times.push_back(finished->compute_time.value());
  check_times(times, {20, 20, 20, 20});
}

TEST_CASE("a straggler on a shared machine keeps what it has done, and changes what is left") {
  // One core, two equal workers. From 10 s on worker 1 is slowed down by 2: it has 5 s of work left, at 1/4.
  // Worker 0 ends at 20 s. Worker 1 has then 2.5 s left and is alone, at 1/2: 25 s.
  TestJob job = bsp_job({{}, {}});
  job.total_samples = 20;
  job.machines = {shared(1)};
  job.heterogeneity.stragglers = {
      {.worker = 1, .from = Seconds{10.0}, .duration = Seconds{1000.0}, .slowdown = 2.0}};
  CHECK(job.run_ideal().end.value() == doctest::Approx(25.0));
}

TEST_CASE("optimizer steps of members on one machine are made side by side") {
  // Ring of two without communication, 10 s of computing and 3 s of step each: both halved on one core.
  TestJob job = bsp_job({{}, {}});
  job.phases = {{.transport = Transport::ring}};
  job.optimizer_step = Seconds{3.0};
  job.total_samples = 20;
  job.machines = {shared(1)};
  CHECK(job.run_ideal().end.value() == doctest::Approx(26.0));
}

TEST_CASE("work is conserved: a full core is never idle, however it is shared") {
  // Sum of all works / 1 core = end, for any policy that never waits; jitter and unequal speeds.
  TestJob job = at_own_pace({{1, 1.0}, {1, 0.7}, {1, 0.31}, {1, 2.0}}, shared(1), 10 * 400);
  job.jitter = {.run_cv = 0.05, .worker_cv = 0.1, .iteration_cv = 0.5};
  const auto result = job.run_ideal();
  const SimulationModel model = job.model();
  double work = 0.0;
  for (const auto& [time, start] : result.recording.all<StartIteration>())
    work += model.compute.iteration(start.worker, start.iteration, start.batch_samples).value();
  // At the end some wait for those that still compute, and the core is still full: one of them is left.
  CHECK(result.end.value() == doctest::Approx(work).epsilon(1e-9));
}

TEST_CASE("both timelines agree on a shared machine, where nothing contends on the network") {
  TestJob job = at_own_pace({{1, 1.0}, {1, 0.7}, {1, 0.43}}, shared(2, {1.0, 0.7}), 10 * 600);
  job.machines[0].hosts_servers = true;
  job.network = {BytesPerSecond{1e18}, Seconds{0.05}, BytesPerSecond{1e18}};
  job.server_rate = BytesPerSecond{4000.0};
  job.jitter.iteration_cv = 0.2;
  const auto ideal = job.run_ideal();
  FluidTimeline timeline(job.cluster(), Shortcuts::on);
  NoLearner learner;
  TestJob::Result fluid;
  job.run_on(timeline, learner, fluid);
  REQUIRE(fluid.recording.events.size() == ideal.recording.events.size());
  double worst = 0.0;
  for (std::size_t i = 0; i < ideal.recording.events.size(); ++i) {
    REQUIRE(order_among_equals(fluid.recording.events[i].event) ==
            order_among_equals(ideal.recording.events[i].event));
    const double time = ideal.recording.events[i].time.value();
    if (time > 0.0) worst = std::max(worst, std::abs(fluid.recording.events[i].time.value() / time - 1.0));
  }
  CHECK(worst <= 1e-9);
}

TEST_CASE("going on after a quota's stop costs the same on a machine of one's own and on a shared one") {
  // 4 s of each 10 s, 1 s to resume, phase drawn alike: both executions see the same ends, draw by draw.
  TestJob job =
      at_own_pace({{.cores = 1, .quota = CpuQuota{0.4, Seconds{10.0}, Seconds{1.0}}}}, shared(1), 400);
  job.jitter.iteration_cv = 0.3;
  const std::vector<double> on_shared = updates_of(job.run_ideal(), 0);
  job.machines.clear();
  const std::vector<double> alone = updates_of(job.run_ideal(), 0);
  check_times(on_shared, alone);
  // Steady: 400 s of work · 10/3, to within the periods at both ends and the jitter of 40 iterations.
  CHECK(alone.back() == doctest::Approx(400.0 * 10.0 / 3.0).epsilon(4.0 * 0.3 / std::sqrt(40.0) + 0.02));
  job.workers[0].quota->resume.reset();
  CHECK(updates_of(job.run_ideal(), 0).back() < 0.9 * alone.back());
}

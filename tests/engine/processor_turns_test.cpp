// Processes that take turns on the cores of their machine, against times one can work out by hand.
#include <utility>
#include <vector>

#include <doctest/doctest.h>

#include "sim/engine/shared_machines.hpp"
#include "tests/support/test_job.hpp"
#include "tests/support/update_times.hpp"

using namespace paceline;
using paceline::test::check_times;
using paceline::test::TestJob;
using paceline::test::updates_of;

namespace {

Machine in_turns(int cores, double length_s, bool servers_first = false) {
  Machine machine{.cores = cores, .is_shared = true};
  machine.turns = Turns{Seconds{length_s}, servers_first};
  return machine;
}

// Batches of 10 samples of 1 s, without communication.
TestJob job_on(Machine machine, std::vector<Worker> workers, const char* policy, std::int64_t samples) {
  TestJob job;
  job.workers = std::move(workers);
  job.phases = {{.policy = policy}};
  job.machines = {std::move(machine)};
  job.total_samples = samples;
  return job;
}

std::vector<double> compute_times_of(const TestJob::Result& result, std::uint64_t worker) {
  std::vector<double> times;
  for (const auto& [time, event] : result.recording.events)
    if (const auto* finished = std::get_if<IterationFinished>(&event))
      if (finished->worker.value == worker) times.push_back(finished->compute_time.value());
  return times;
}

void check_server_work(const TestJob::Result& result,
                       const std::vector<std::pair<double, double>>& expected) {
  REQUIRE(result.recording.server_work.size() == expected.size());
  for (std::size_t i = 0; i < expected.size(); ++i) {
    CHECK(result.recording.server_work[i].begin.value() == doctest::Approx(expected[i].first));
    CHECK(result.recording.server_work[i].end.value() == doctest::Approx(expected[i].second));
  }
}

// Takes three times as long: 30 s.
const Worker third{1, 1.0 / 3.0};

}  // namespace

TEST_CASE("two workers on one core compute in turns, and an iteration lasts from its first turn on") {
  // Turns of 4 s. Worker 0: 0-4, 8-12, 16-18. Worker 1: 4-8, 12-16, 18-20. Then the same again, 20 s later.
  const auto result = job_on(in_turns(1, 4.0), {{}, {}}, "asp", 40).run_ideal();
  check_times(updates_of(result, 0), {18, 38});
  check_times(updates_of(result, 1), {20, 40});
  check_times(compute_times_of(result, 0), {18, 18});
  check_times(compute_times_of(result, 1), {16, 16});
}

TEST_CASE("an iteration that fits into a turn takes what it takes alone, and its wait comes before it") {
  const auto result = job_on(in_turns(1, 12.0), {{}, {}}, "asp", 40).run_ideal();
  check_times(updates_of(result, 0), {10, 30});
  check_times(updates_of(result, 1), {20, 40});
  check_times(compute_times_of(result, 0), {10, 10});
  check_times(compute_times_of(result, 1), {10, 10});
}

TEST_CASE("three workers on two cores leave them one after the other") {
  // Turns of 4 s end together: who has been longest on its core leaves, and the other begins a new turn.
  // Workers 0 1, 1 2, 2 0, then 0 1 for the 2 s that both have left, and worker 2 for its own: 16 s, one
  // more than in equal shares, since a core is free at the end.
  const auto result = job_on(in_turns(2, 4.0), {{}, {}, {}}, "bsp", 30).run_ideal();
  CHECK(result.end.value() == doctest::Approx(16.0));
  check_times(compute_times_of(result, 0), {14});
  check_times(compute_times_of(result, 1), {14});
  check_times(compute_times_of(result, 2), {12});
}

TEST_CASE("who computes does so at the speed of as many as there are cores") {
  // s(2) = 0.8: workers 0 and 1 until 12.5 s, then worker 2 alone for 10 s.
  Machine machine = in_turns(2, 20.0);
  machine.speeds = {1.0, 0.8, 0.5};
  CHECK(job_on(machine, {{}, {}, {}}, "bsp", 30).run_ideal().end.value() == doctest::Approx(22.5));
}

TEST_CASE("turns change nothing where there is a core for each process") {
  for (const char* policy : {"bsp", "asp"}) {
    TestJob job = job_on(in_turns(4, 0.5, true), {{1, 1.0}, {1, 0.7}, {1, 0.3}}, policy, 300);
    job.machines[0].hosts_servers = true;
    job.server_rate = BytesPerSecond{500.0};
    job.jitter.iteration_cv = 0.3;
    const double in_turns = job.run_ideal().end.value();
    job.machines[0].turns.reset();
    CHECK(job.run_ideal().end.value() == in_turns);
  }
}

TEST_CASE("short turns come to equal shares") {
  // Works of 10, 20 and 40 s on two cores under BSP, in equal shares: 2/3 each until 15 s (10 s done by
  // all), then a core each: until 25 s, and until 45 s.
  TestJob job = job_on(in_turns(2, 0.01), {{}, {1, 0.5}, {1, 0.25}}, "bsp", 30);
  CHECK(job.run_ideal().end.value() == doctest::Approx(45.0).epsilon(1e-3));
  job.machines[0].turns.reset();
  CHECK(job.run_ideal().end.value() == doctest::Approx(45.0));
}

TEST_CASE("a server that goes first interrupts a worker, and one that does not waits for its turn") {
  // One core, works of 10 and 30 s, turns longer than both. At 10 s worker 0 pushes, and worker 1 gets the
  // core. The server's step takes 4 s: first, until 14 s, worker 1 computes until 44 s, and its own step
  // lasts until 48 s. In line, it has to wait for worker 1: 40-44 s and 44-48 s.
  TestJob job = job_on(in_turns(1, 100.0, true), {{}, third}, "asp", 20);
  job.machines[0].hosts_servers = true;
  job.server_rate = BytesPerSecond{250.0};
  const auto first = job.run_ideal();
  check_times(updates_of(first, 0), {14});
  check_times(updates_of(first, 1), {48});
  check_times(compute_times_of(first, 1), {30});
  check_server_work(first, {{10, 14}, {44, 48}});
  job.machines[0].turns->servers_first = false;
  const auto in_line = job.run_ideal();
  check_times(updates_of(in_line, 0), {44});
  check_times(updates_of(in_line, 1), {48});
  check_times(compute_times_of(in_line, 1), {30});
  check_server_work(in_line, {{40, 44}, {44, 48}});
}

TEST_CASE("who was interrupted comes back before all others, for the rest of its turn") {
  // One core, works of 10, 20 and 20 s, steps of 4 s, turns longer than all. Worker 1 gets the core at 10
  // s, is interrupted and computes from 14 to 34 s, worker 2 from 38 to 58 s. (From the end of the line:
  // the other way round.)
  TestJob job = job_on(in_turns(1, 100.0, true), {{}, {1, 0.5}, {1, 0.5}}, "asp", 30);
  job.machines[0].hosts_servers = true;
  job.server_rate = BytesPerSecond{250.0};
  const auto in_order = job.run_ideal();
  check_times(updates_of(in_order, 1), {38});
  check_times(updates_of(in_order, 2), {62});
  // Two cores, works of 10, 30 and 30 s, turns of 12 s. At 10 s worker 2 gets worker 0's core, and the
  // server interrupts worker 1, whose turn ends first: at 12 s. Back at 14 s it has 2 s more, and leaves
  // at 16 s to worker 0, whose second iteration lasts until 26 s, and its step until 30 s. (If worker 1
  // had a new turn, worker 0 would get worker 2's core at 22 s.)
  TestJob rest = job_on(in_turns(2, 12.0, true), {{}, third, third}, "asp", 40);
  rest.machines[0].hosts_servers = true;
  rest.server_rate = BytesPerSecond{250.0};
  const auto result = rest.run_ideal();
  check_times(updates_of(result, 0), {14, 30});
  check_times(compute_times_of(result, 0), {10, 10});
}

TEST_CASE("servers that go first wait for each other, and workers for all of them") {
  // One core, two servers that each hold half of 1000 B at 250 B/s: steps of 2 s, one after the other, 10 to
  // 14 s. Worker 1 computes from then until 44 s, and its own steps last until 48 s.
  TestJob job = job_on(in_turns(1, 100.0, true), {{}, third}, "asp", 20);
  job.machines[0].hosts_servers = true;
  job.servers = 2;
  job.server_rate = BytesPerSecond{250.0};
  const auto result = job.run_ideal();
  check_times(updates_of(result, 0), {12, 14});
  check_times(updates_of(result, 1), {46, 48});
}

TEST_CASE("as long as nobody waits one turn follows the other") {
  // One core, turns of 4 s. Worker 0 has 30 s of work; worker 1 (10 s) is away from 1 to 10 s. Back in the
  // third turn of worker 0 it waits until 12 s. Turns: 1 12-16, 0 16-20, 1 20-24, 0 24-28, 1 28-30, 0 30-40.
  TestJob job = job_on(in_turns(1, 4.0), {third, {}}, "asp", 20);
  job.heterogeneity.membership = {{Seconds{1.0}, 1, MembershipEvent::leaves},
                                  {Seconds{10.0}, 1, MembershipEvent::joins}};
  const auto result = job.run_ideal();
  check_times(updates_of(result, 0), {40});
  check_times(updates_of(result, 1), {30});
  check_times(compute_times_of(result, 1), {18});
}

TEST_CASE("as many turns end at a date as processes wait") {
  // Four workers on two cores, turns of 4 s: 0 1, 2 3, 0 1, 2 3, and the 2 s that are left: 0 1 until 18
  // s, 2 3 until 20 s.
  const auto result = job_on(in_turns(2, 4.0), {{}, {}, {}, {}}, "bsp", 40).run_ideal();
  CHECK(result.end.value() == doctest::Approx(20.0));
  for (const std::uint64_t w : {0U, 1U}) check_times(compute_times_of(result, w), {18});
  for (const std::uint64_t w : {2U, 3U}) check_times(compute_times_of(result, w), {16});
}

TEST_CASE("work that fills its turns exactly needs no other") {
  // Two workers on one core, two turns of 5 s each.
  const auto result = job_on(in_turns(1, 5.0), {{}, {}}, "asp", 20).run_ideal();
  check_times(updates_of(result, 0), {15});
  check_times(updates_of(result, 1), {20});
  // Three of 0.1 s fill 0.3 s but for rounding.
  const auto rounded = job_on(in_turns(1, 0.1), {{1, 10.0 / 0.3}, {1, 10.0 / 0.3}}, "asp", 20).run_ideal();
  check_times(updates_of(rounded, 0), {0.5});
  check_times(updates_of(rounded, 1), {0.6});
}

TEST_CASE("who is held up by a quota leaves the core to others") {
  // One core, turns of 3 s; worker 0 may use it for 2 s in each 10 s, worker 1 as it likes. It gets its 2 s
  // in each period, and worker 1 the other 8.
  Worker limited;
  limited.quota = CpuQuota{0.2, Seconds{10.0}};
  const auto result = job_on(in_turns(1, 3.0), {limited, {}}, "asp", 10 * 2000).run_ideal();
  const auto slow = static_cast<double>(updates_of(result, 0).size());
  const auto fast = static_cast<double>(updates_of(result, 1).size());
  CHECK(slow / (slow + fast) == doctest::Approx(0.2).epsilon(0.01));
  CHECK(result.end.value() == doctest::Approx(10.0 * 2000).epsilon(0.01));
}

TEST_CASE("who rests leaves the core to others") {
  // Worker 1 at half speed computes 10 s and rests 10 s. One core, turns of 12 s, BSP: worker 0 until 10 s,
  // worker 1 until 20 s, and its rest until 30 s.
  TestJob job = job_on(in_turns(1, 12.0), {{}, {1, 0.5}}, "bsp", 20);
  job.machines[0].slow_workers = SlowWorkers::rest;
  CHECK(job.run_ideal().end.value() == doctest::Approx(30.0));
}

TEST_CASE("who is called off or leaves the job while it waits is in line no more") {
  // Three workers, one core, turns of 12 s. Worker 1 leaves at 5 s: worker 2 computes from 10 to 20 s.
  TestJob job = job_on(in_turns(1, 12.0), {{}, {}, {}}, "asp", 20);
  job.heterogeneity.membership = {{Seconds{5.0}, 1, MembershipEvent::leaves}};
  const auto result = job.run_ideal();
  check_times(updates_of(result, 0), {10});
  check_times(updates_of(result, 2), {20});
  // The first gradient of three ends a round: two rounds are over at 20 s, the others have never computed.
  TestJob backup = job_on(in_turns(1, 12.0), {{}, {}, {}}, "bsp", 20);
  backup.phases = {{.policy = {"backup-workers", {{"backups", 2}}}}};
  CHECK(backup.run_ideal().end.value() == doctest::Approx(20.0));
}

TEST_CASE("who waits in line may be slowed down meanwhile") {
  // One core, turns of 4 s; worker 1 is slowed down by 2 from 2 s on. It computes 4-8, 12-16 and from 18 s
  // on: 4 s of work are done by then, and 6 s take 12.
  TestJob job = job_on(in_turns(1, 4.0), {{}, {}}, "asp", 20);
  job.heterogeneity.stragglers = {
      {.worker = 1, .from = Seconds{2.0}, .duration = Seconds{1000.0}, .slowdown = 2.0}};
  const auto result = job.run_ideal();
  check_times(updates_of(result, 0), {18});
  check_times(updates_of(result, 1), {30});
}

TEST_CASE("work is conserved in turns: a full core is never idle") {
  // Sum of all works / 1 core = end, for any policy that never waits; jitter and unequal speeds.
  TestJob job = job_on(in_turns(1, 1.7), {{1, 1.0}, {1, 0.7}, {1, 0.31}, {1, 2.0}}, "asp", 10 * 400);
  job.jitter = {.run_cv = 0.05, .worker_cv = 0.1, .iteration_cv = 0.5};
  const auto result = job.run_ideal();
  const SimulationModel model = job.model();
  double work = 0.0;
  for (const auto& [time, start] : result.recording.all<StartIteration>())
    work += model.compute.iteration(start.worker, start.iteration, start.batch_samples).value();
  CHECK(result.end.value() == doctest::Approx(work).epsilon(1e-9));
}

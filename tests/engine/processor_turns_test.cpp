// Processes that take turns on the cores of their machine, against times one can work out by hand.
#include <vector>

#include <doctest/doctest.h>

#include "sim/engine/shared_machines.hpp"
#include "tests/support/test_job.hpp"

using namespace paceline;
using paceline::test::TestJob;

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

std::vector<double> updates_of(const TestJob::Result& result, std::uint64_t worker) {
  std::vector<double> times;
  for (const auto& [time, update] : result.recording.all<Apply>())
    if (update.gradients[0].worker.value == worker) times.push_back(time.value());
  return times;
}

std::vector<double> compute_times_of(const TestJob::Result& result, std::uint64_t worker) {
  std::vector<double> times;
  for (const auto& [time, event] : result.recording.events)
    if (const auto* finished = std::get_if<IterationFinished>(&event))
      if (finished->worker.value == worker) times.push_back(finished->compute_time.value());
  return times;
}

void check_times(const std::vector<double>& times, const std::vector<double>& expected) {
  REQUIRE(times.size() == expected.size());
  for (std::size_t i = 0; i < times.size(); ++i)
    CHECK(times[i] == doctest::Approx(expected[i]).epsilon(1e-12));
}

// Worker 1 takes three times as long: 30 s.
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
  // Turns of 4 s: workers 0 1, 1 2, 2 0, then 0 1 for the 2 s that both have left, and worker 2 for its own:
  // 16 s, one more than in equal shares, since a core is free at the end.
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
  // Works of 10, 20 and 40 s on two cores under BSP, in equal shares: 2/3 each until 15 s (10 s done by all),
  // then a core each: until 25 s, and until 45 s.
  TestJob job = job_on(in_turns(2, 0.01), {{}, {1, 0.5}, {1, 0.25}}, "bsp", 30);
  CHECK(job.run_ideal().end.value() == doctest::Approx(45.0).epsilon(1e-3));
  job.machines[0].turns.reset();
  CHECK(job.run_ideal().end.value() == doctest::Approx(45.0));
}

TEST_CASE("a server that goes first interrupts a worker, and one that does not waits for its turn") {
  // One core, works of 10 and 30 s, turns longer than both. At 10 s worker 0 pushes, and worker 1 gets the
  // core. The server's step takes 4 s: first, until 14 s, and worker 1 computes until 44 s, its own step
  // until 48 s. In line, it has to wait for worker 1: 40-44 s and 44-48 s.
  TestJob job = job_on(in_turns(1, 100.0, true), {{}, third}, "asp", 20);
  job.machines[0].hosts_servers = true;
  job.server_rate = BytesPerSecond{250.0};
  const auto first = job.run_ideal();
  check_times(updates_of(first, 0), {14});
  check_times(updates_of(first, 1), {48});
  check_times(compute_times_of(first, 1), {34});
  job.machines[0].turns->servers_first = false;
  const auto in_line = job.run_ideal();
  check_times(updates_of(in_line, 0), {44});
  check_times(updates_of(in_line, 1), {48});
  check_times(compute_times_of(in_line, 1), {30});
}

TEST_CASE("who was interrupted is the next, for the rest of its turn") {
  // Two cores, works of 10, 30 and 30 s, turns of 12 s. At 10 s worker 2 gets worker 0's core, and the server
  // interrupts worker 1, whose turn ends first: at 12 s. Back at 14 s it has 2 s more, and leaves at 16 s to
  // worker 0, whose second iteration lasts until 26 s. (With a turn of its own it would stay until 26 s.)
  TestJob job = job_on(in_turns(2, 12.0, true), {{}, third, third}, "asp", 40);
  job.machines[0].hosts_servers = true;
  job.server_rate = BytesPerSecond{250.0};
  const auto result = job.run_ideal();
  check_times(updates_of(result, 0), {14, 30});
  check_times(compute_times_of(result, 0), {10, 10});
}

TEST_CASE("who is held up by a quota leaves the core to the next in line, and comes back to its end") {
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

TEST_CASE("who rests or is called off leaves the line or the core to others") {
  // Worker 1 at half speed computes 10 s and rests 10 s. One core, turns of 12 s, BSP: worker 0 until 10 s,
  // worker 1 until 20 s, and its rest until 30 s.
  TestJob job = job_on(in_turns(1, 12.0), {{}, {1, 0.5}}, "bsp", 20);
  job.machines[0].slow_workers = SlowWorkers::rest;
  CHECK(job.run_ideal().end.value() == doctest::Approx(30.0));
  // Two of three gradients end a round: those of workers 0 and 1, at 10 and 20 s. Worker 2, who is in line
  // until then, is called off: two rounds are over at 40 s.
  TestJob backup = job_on(in_turns(1, 12.0), {{}, {}, {}}, "bsp", 40);
  backup.phases = {{.policy = {"backup-workers", {{"backups", 1}}}}};
  CHECK(backup.run_ideal().end.value() == doctest::Approx(40.0));
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

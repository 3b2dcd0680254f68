// What servers and workers do for messages while others travel or are served: processor time, but no wait.
#include <doctest/doctest.h>

#include "tests/support/test_job.hpp"

using namespace paceline;
using paceline::test::compute_times;
using paceline::test::TestJob;
using paceline::test::times_of_updates;
using paceline::test::two_workers;

namespace {

// Iterations of 10 s; two messages between two of them take the worker 0.5 s each, and the server's request
// takes `request`.
TestJob one_worker(Seconds request, double overlap) {
  TestJob job = two_workers("asp", 30);
  job.workers = {{}};
  job.costs.communication = {
      .server_request = request, .per_message = Seconds{0.5}, .worker_overlap = overlap};
  return job;
}

double seconds_of_an_update(const TestJob& job) {
  const std::vector<double> times = times_of_updates(job.run_ideal());
  return times.back() / static_cast<double>(times.size());
}

}  // namespace

TEST_CASE("what a server does while its worker computes again delays the others, not this one") {
  // ASP, 1 s a gradient, half of it overlapped: worker 0 waits until 10.5 s, the server works until 11 s,
  // then for worker 1 until 12 s, which goes on at 11.5 s; 10 s later each has the server to itself.
  TestJob job = two_workers("asp", 40);
  job.costs.communication.server_request = Seconds{1.0};
  job.costs.communication.server_overlap = 0.5;
  CHECK(times_of_updates(job.run_ideal()) == std::vector{10.5, 11.5, 21.0, 22.0});
  // 8 s a gradient: two workers ask for 16 s in 14, so the server is busy all the time and its rate is one
  // update in 8 s, overlapped or not.
  job.costs.communication.server_request = Seconds{8.0};
  CHECK(times_of_updates(job.run_ideal()) == std::vector{14.0, 22.0, 30.0, 38.0});
  // A machine with a core for each of them changes nothing.
  job.machines = {Machine{.cores = 3, .workers = {0, 1}, .is_shared = true, .hosts_servers = true}};
  CHECK(times_of_updates(job.run_ideal()) == std::vector{14.0, 22.0, 30.0, 38.0});
}

TEST_CASE("synchronous workers do not wait for the overlapped share of any gradient of their update") {
  // Both gradients are there at 10 s; of 1 s each, half a second is waited for: the step is at 11 s. The
  // server works on until 12 s, before the next gradients come at 21 s.
  TestJob job = two_workers("bsp", 60);
  job.costs.communication.server_request = Seconds{1.0};
  job.costs.communication.server_overlap = 0.5;
  CHECK(times_of_updates(job.run_ideal()) == std::vector{11.0, 22.0, 33.0});
  // 12 s each, all overlapped: nobody waits for the first step, at 10 s; then the server is busy until 34 s.
  job.costs.communication.server_request = Seconds{12.0};
  job.costs.communication.server_overlap = 1.0;
  CHECK(times_of_updates(job.run_ideal()) == std::vector{10.0, 34.0, 58.0});
  job.machines = {Machine{.cores = 3, .workers = {0, 1}, .is_shared = true, .hosts_servers = true}};
  CHECK(times_of_updates(job.run_ideal()) == std::vector{10.0, 34.0, 58.0});
}

TEST_CASE("a server that waits for the last gradient works off what nobody waits for meanwhile") {
  // Iterations of 10 and 20 s, 12 s a gradient, all overlapped. Of the first gradient's 12 s 10 are over when
  // the second one comes, and the step is taken at once: at 20 s, with 2 + 12 s to do. So the gradient of
  // 30 s waits until 34 s, and its work is interrupted by the step at 40 s.
  TestJob job = two_workers("bsp", 60);
  job.workers = {{}, {.speed = 0.5}};
  job.costs.communication = {.server_request = Seconds{12.0}, .server_overlap = 1.0};
  CHECK(times_of_updates(job.run_ideal()) == std::vector{20.0, 40.0, 60.0});
  job.machines = {Machine{.cores = 3, .workers = {0, 1}, .is_shared = true, .hosts_servers = true}};
  CHECK(times_of_updates(job.run_ideal()) == std::vector{20.0, 40.0, 60.0});
  // 1 s a gradient, two cores: the first one's is worked off on the core that nobody needs, the second one's
  // beside both workers, each at 2/3 of its speed for 1.5 s: they lose half a second.
  job.costs.communication.server_request = Seconds{1.0};
  job.machines.front().cores = 2;
  const std::vector<double> times = times_of_updates(job.run_ideal());
  REQUIRE(times.size() == 3);
  for (std::size_t k = 0; k < 3; ++k)
    CHECK(times[k] == doctest::Approx(20.0 + 20.5 * static_cast<double>(k)));
}

TEST_CASE("what a worker does for a message that travels delays it only where that is not done in time") {
  // While the server works for 2 s the gradient's 0.5 s are over. Parameters arrive at once, so their 0.5 s
  // are still to do: iterations of 10 s end at 10, 22.5 and 35 s, updates 2 s later.
  const auto expect = [](TestJob job, const std::vector<double>& times) {
    CHECK(times_of_updates(job.run_ideal()) == times);
    job.machines = {Machine{.cores = 2, .is_shared = true, .hosts_servers = true}};
    CHECK(times_of_updates(job.run_ideal()) == times);
  };
  expect(one_worker(Seconds{2.0}, 1.0), {12.0, 24.5, 37.0});
  // Half of each message is the next iteration's in any case: 0.25 s more.
  expect(one_worker(Seconds{2.0}, 0.5), {12.0, 24.75, 37.5});
  // The server works for 0.25 s only: as much of the gradient is left.
  expect(one_worker(Seconds{0.25}, 1.0), {10.25, 21.25, 32.25});
  expect(one_worker(Seconds{2.0}, 0.0), {12.0, 25.0, 38.0});
}

TEST_CASE("at half speed messages that travel take what they take, and are no compute time") {
  // Iterations of 20 s: computed all the time, or half of it and then rested for as long.
  TestJob job = one_worker(Seconds{0.25}, 1.0);
  job.workers = {{.speed = 0.5}};
  const auto expect = [&] {
    CHECK(times_of_updates(job.run_ideal()) == std::vector{20.25, 41.25, 62.25});
    for (const Seconds time : compute_times(job.run_ideal())) CHECK(time.value() == doctest::Approx(20.0));
  };
  expect();
  for (const SlowWorkers slow : {SlowWorkers::compute, SlowWorkers::rest}) {
    job.machines = {{.cores = 2, .is_shared = true, .slow_workers = slow}};
    expect();
  }
}

TEST_CASE("messages that travel come out of a worker's quota") {
  // 10 s of computing and 1 s of messages each time, at half a core, though 0.5 s of it cost no time: 22 s an
  // update in the long run, shared machine or not. An iteration lasts as long on either, though what was left
  // of messages may have used the quota up before it.
  TestJob job = one_worker(Seconds{2.0}, 1.0);
  job.total_samples = 4000;
  job.workers = {{.quota = CpuQuota{.cores = 0.5, .period = Seconds{4.0}}}};
  CHECK(seconds_of_an_update(job) == doctest::Approx(22.0).epsilon(0.01));
  const std::vector<Seconds> alone = compute_times(job.run_ideal());
  job.machines = {{.cores = 2, .is_shared = true}};
  CHECK(seconds_of_an_update(job) == doctest::Approx(22.0).epsilon(0.01));
  const std::vector<Seconds> shared = compute_times(job.run_ideal());
  REQUIRE(shared.size() == alone.size());
  for (std::size_t k = 0; k < alone.size(); ++k)
    CHECK(shared[k].value() == doctest::Approx(alone[k].value()).epsilon(1e-6));
}

TEST_CASE("messages that travel go on at the pace that their worker has come to while it computed") {
  // From 5 s on it computes at a tenth of its speed: the first iteration ends at 55 s, and at 57 s its server
  // is done and 0.3 s of its gradient's 0.5 are left: with those of the parameters (5 + 3) s, then 100 s.
  TestJob job = one_worker(Seconds{2.0}, 1.0);
  job.total_samples = 20;
  job.heterogeneity.schedule = {{.at = Seconds{5.0}, .speeds = {0.1}}};
  const auto expect = [&] {
    const std::vector<double> times = times_of_updates(job.run_ideal());
    REQUIRE(times.size() == 2);
    CHECK(times[0] == doctest::Approx(57.0));
    CHECK(times[1] == doctest::Approx(167.0));
  };
  expect();
  job.machines = {{.cores = 2, .is_shared = true}};
  expect();
}

TEST_CASE("a worker that comes back owes nothing for messages of the one that left") {
  // It leaves at 10.125 s, while it handles its gradient, and comes back at 10.25 s, when the server is done:
  // with what parameters take, 0.5 s, and 10 s its next gradient is there at 20.75 s.
  TestJob job = one_worker(Seconds{0.25}, 1.0);
  job.total_samples = 20;
  job.heterogeneity.membership = {{Seconds{10.125}, 0, MembershipEvent::leaves},
                                  {Seconds{10.25}, 0, MembershipEvent::joins}};
  const auto expect = [&] { CHECK(times_of_updates(job.run_ideal()) == std::vector{10.25, 21.0}); };
  expect();
  job.machines = {{.cores = 2, .is_shared = true}};
  expect();
}

TEST_CASE("messages that travel take a shared core from whoever computes on it") {
  // Two workers keep one core busy: 10 s and 1 s of messages each, so an update each 11 s, all at once or in
  // turns.
  TestJob job = one_worker(Seconds{2.0}, 1.0);
  job.workers = {{}, {}};
  job.total_samples = 2000;
  job.machines = {{.cores = 1, .is_shared = true}};
  CHECK(seconds_of_an_update(job) == doctest::Approx(11.0).epsilon(0.01));
  job.machines.front().turns = Turns{.length = Seconds{3.0}};
  CHECK(seconds_of_an_update(job) == doctest::Approx(11.0).epsilon(0.01));
}

TEST_CASE("members of a ring handle its messages while they wait for each other") {
  // Iterations of 10 and 20 s; four messages of 0.5 s for each member. The ring takes no time here, so all of
  // it is left when the next iterations begin: 10 + 2 and 20 + 2 s.
  TestJob job = two_workers("bsp", 60);
  job.workers = {{}, {.speed = 0.5}};
  job.phases[0].transport = Transport::ring;
  job.costs.communication = {.per_message = Seconds{0.5}, .worker_overlap = 1.0};
  CHECK(times_of_updates(job.run_ideal()) == std::vector{20.0, 42.0, 64.0});
  // Two rounds of 0.5 s hide half of it.
  job.network.latency = Seconds{0.5};
  CHECK(times_of_updates(job.run_ideal()) == std::vector{21.0, 43.0, 65.0});
}

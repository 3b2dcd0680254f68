// What several workers cost one another: found again where it is known.
#include "calibrate/live/message_wait.hpp"

#include <utility>
#include <vector>

#include <doctest/doctest.h>

namespace paceline::live {
namespace {

// Busy for 2 ms, requests of 0.1 ms at the server, 45 kB over links of 25 MB/s that carry 32 kB at once after
// a rest.
BusyWorkers workers_over_links(std::uint32_t workers) {
  NetworkConfig network{.bandwidth = BytesPerSecond{25e6}, .server_bandwidth = BytesPerSecond{25e6}};
  network.model.burst = Bytes{32e3};
  return {.workers = workers,
          .busy = Seconds{2e-3},
          .variation = 0.1,
          .bytes = Bytes{45e3},
          .cost = {.server_request = Seconds{1e-4}},
          .network = network,
          .cores = 4};
}

// What is known of a job, and what is measured of the true one.
MeasuredWorkers measured(const BusyWorkers& known, const BusyWorkers& truth) {
  return {known, simulated_cycle(truth), truth.slowdown * truth.busy};
}

Seconds found_wait(const BusyWorkers& truth) {
  return added_to_messages({simulated_cycle(truth).between},
                           [&](const std::vector<Seconds>& waits) {
                             BusyWorkers job = truth;
                             job.wait = waits.front();
                             return std::vector{simulated_cycle(job).between};
                           })
      .added.front();
}

}  // namespace

TEST_CASE("requests of one simulated worker take what its messages and the server take") {
  // 2 · 13 kB / 25 MB/s + 0.1 ms, and two messages of 0.05 ms of processor time.
  BusyWorkers job = workers_over_links(1);
  job.cost.per_message = Seconds{5e-5};
  const CycleTime cycle = simulated_cycle(job);
  CHECK(cycle.iteration.value() == doctest::Approx(2e-3).epsilon(0.02));
  CHECK(cycle.between.value() == doctest::Approx(1.04e-3 + 1e-4 + 1e-4).epsilon(0.005));
}

TEST_CASE("the wait of messages is found again, also where links are nearly full") {
  for (const std::uint32_t workers : {1U, 2U, 3U}) {
    CAPTURE(workers);
    BusyWorkers job = workers_over_links(workers);
    job.wait = Seconds{workers < 3 ? 4e-4 : 2e-3};
    const Seconds without = simulated_cycle(workers_over_links(workers)).between;
    const Seconds with = simulated_cycle(job).between;
    // Over links that are nearly full, one step of half of the excess would find too little.
    if (workers > 1) CHECK(with - without < 2.0 * job.wait);
    CHECK(found_wait(job).value() == doctest::Approx(job.wait.value()).epsilon(0.1));
  }
}

TEST_CASE("messages are not found to wait where everything is explained") {
  CHECK(found_wait(workers_over_links(2)).value() == doctest::Approx(0.0));
}

TEST_CASE("each worker's messages get the wait that explains what lies between its own iterations") {
  // Two messages of worker 0 make up 2 · 0.3 s, worker 1 has nothing to explain, and worker 2 has less
  // between its iterations than is predicted.
  const auto predicted = [](const std::vector<Seconds>& added) {
    std::vector<Seconds> between = {Seconds{1.0}, Seconds{1.0}, Seconds{2.0}};
    for (std::size_t w = 0; w < added.size(); ++w) between[w] += 2.0 * added[w];
    return between;
  };
  const AddedToMessages found = added_to_messages({Seconds{1.6}, Seconds{1.0}, Seconds{1.0}}, predicted);
  REQUIRE(found.added.size() == 3);
  CHECK(found.added[0].value() == doctest::Approx(0.3));
  CHECK(found.added[1] == Seconds{});
  CHECK(found.added[2] == Seconds{});
}

TEST_CASE("what one worker's messages take beyond their links is latency, and what more take is waiting") {
  // One: as above, and a latency of 0.1 ms each way. Several: each computes 1.3 times as long.
  BusyWorkers one = workers_over_links(1);
  one.network.latency = Seconds{1e-4};  // of each of the two links on the way
  BusyWorkers several = one;
  several.workers = 2;
  several.wait = Seconds{5e-4};
  several.slowdown = 1.3;
  const Disturbance found =
      disturbance_of(measured(workers_over_links(1), one), measured(workers_over_links(2), several));
  CHECK(found.wait.value() == doctest::Approx(5e-4).epsilon(0.1));
  CHECK(found.slowdown == doctest::Approx(1.3).epsilon(0.01));
}

TEST_CASE("a synchronous worker that is slowed more than the others is told apart from them") {
  // The first takes 1.2 times as long as the mean, which is 1.3 times as long as alone: 1.56 and 1.04.
  BusyWorkers one = workers_over_links(1);
  BusyWorkers several = workers_over_links(2);
  several.policy = "bsp";
  several.shares = {1.2, 0.8};
  MeasuredWorkers together = measured(several, several);
  several.slowdown = 1.3;
  several.wait = Seconds{5e-4};
  together.cycle = simulated_cycle(several);
  together.processor = 1.3 * several.busy;
  const Disturbance found = disturbance_of(measured(one, one), together);
  REQUIRE(found.of_worker.size() == 2);
  CHECK(found.of_worker[0] == doctest::Approx(1.56).epsilon(0.01));
  CHECK(found.of_worker[1] == doctest::Approx(1.04).epsilon(0.01));
  CHECK(found.slowdown == doctest::Approx(1.3).epsilon(0.01));
  CHECK(found.wait.value() == doctest::Approx(5e-4).epsilon(0.1));
}

TEST_CASE("turns on too few cores are no slowdown, nor is more processor time of messages a wait") {
  // Three workers on two cores, whose messages take 0.3 ms of a processor each, and 0.1 ms with one worker.
  BusyWorkers one = workers_over_links(1);
  one.cores = 2;
  one.cost.per_message = Seconds{1e-4};
  BusyWorkers several = one;
  several.workers = 3;
  several.cost.per_message = Seconds{3e-4};
  const Disturbance found = disturbance_of(measured(one, one), measured(several, several));
  CHECK(found.wait.value() == doctest::Approx(0.0));
  CHECK(found.slowdown == doctest::Approx(1.0).epsilon(0.01));
}

TEST_CASE("bug: waiting for a core counted as computing, and used up quotas") {
  // Three workers on two cores, or two that could have one each, compute 1.3 times as long as one, by their
  // processor time. Woken on busy cores they take 1 ms longer than fair shares of two cores for it: that is a
  // wait of 0.5 ms for each message.
  for (const std::uint32_t workers : {2U, 3U}) {
    CAPTURE(workers);
    BusyWorkers one = workers_over_links(1);
    one.cores = 2;
    BusyWorkers several = one;
    several.workers = workers;
    several.slowdown = 1.3;
    several.policy = "bsp";
    MeasuredWorkers woken = measured(several, several);
    woken.job.slowdown = 1.0;
    woken.cycle.iteration += Seconds{1e-3};
    const Disturbance found = disturbance_of(measured(one, one), woken);
    CHECK(found.slowdown == doctest::Approx(1.3).epsilon(1e-9));
    CHECK(found.wait.value() == doctest::Approx(5e-4).epsilon(0.2));
  }
}

TEST_CASE("what one worker's link hides of work for messages is their overlap, and no wait of them") {
  // Requests of 1 ms, and messages of 0.2 ms of a worker; nobody waits for half of all that; the link has no
  // latency.
  const auto said = [](std::uint32_t workers) {
    BusyWorkers job = workers_over_links(workers);
    job.cost.server_request = Seconds{1e-3};
    job.cost.per_message = Seconds{2e-4};
    return job;
  };
  BusyWorkers one = said(1);
  one.cost.server_overlap = one.cost.worker_overlap = 0.5;
  BusyWorkers several = said(2);
  several.cost.server_overlap = several.cost.worker_overlap = 0.5;
  several.wait = Seconds{5e-4};
  const Disturbance found = disturbance_of(measured(said(1), one), measured(said(2), several));
  CHECK(found.overlap == doctest::Approx(0.5).epsilon(0.02));
  CHECK(found.wait.value() == doctest::Approx(5e-4).epsilon(0.1));
}

TEST_CASE("synchronous workers wait for each other between their iterations") {
  // Without variation and without messages' times: as asynchronous ones, who are not in step, but for the
  // server's second request, which the first worker waits for.
  BusyWorkers job = workers_over_links(2);
  job.variation = 0.0;
  job.bytes = {};
  const Seconds asynchronous = simulated_cycle(job).between;
  job.policy = "bsp";
  const Seconds synchronous = simulated_cycle(job).between;
  CHECK(asynchronous.value() == doctest::Approx(1e-4).epsilon(0.05));
  CHECK(synchronous.value() == doctest::Approx(2e-4).epsilon(0.05));
}

TEST_CASE("short parameters reach synchronous workers one after the other, long ones together") {
  // m = B/bw a message, 5 ms and 1 µs more, iterations of c = m/5. One after the other a round takes c + 3m,
  // since the second worker sends when the first one's gradient is there; c + 4m where all share their links.
  BusyWorkers job = workers_over_links(2);
  job.variation = 0.0;
  job.policy = "bsp";
  job.cost = {};
  job.network = {BytesPerSecond{1e6}, Seconds{}, BytesPerSecond{1e6}};
  for (const auto& [bytes, messages] : {std::pair{5000.0, 3.0}, std::pair{5001.0, 4.0}}) {
    job.bytes = Bytes{bytes};
    job.busy = Seconds{bytes * 1e-6 / 5.0};
    const CycleTime cycle = simulated_cycle(job);
    CHECK((cycle.iteration + cycle.between).value() ==
          doctest::Approx((0.2 + messages) * bytes * 1e-6).epsilon(1e-9));
  }
}

TEST_CASE("a mean cycle is that of all workers alike") {
  const CycleTime mean = mean_of({{Seconds{1.0}, Seconds{0.5}}, {Seconds{2.0}, Seconds{0.7}}});
  CHECK(mean.iteration == Seconds{1.5});
  CHECK(mean.between.value() == doctest::Approx(0.6));
}

}  // namespace paceline::live

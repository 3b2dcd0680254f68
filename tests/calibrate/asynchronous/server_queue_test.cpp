// Asynchronous workers at a server: closed forms.
#include "calibrate/asynchronous/server_queue.hpp"

#include <algorithm>

#include <doctest/doctest.h>

namespace paceline {
namespace {

ServerQueue equal_workers(int workers, double alone_s, double service_s) {
  ServerQueue queue;
  queue.workers.assign(static_cast<std::size_t>(workers), {alone_s});
  queue.service_s = {service_s};
  return queue;
}

double simulated_rate(const ServerQueue& queue) {
  return simulate_queue(queue, RandomStream({1, 0}, Purpose::test)).rate;
}

}  // namespace

TEST_CASE("asynchronous: deterministic workers and server do min(n / t, 1 / s)") {
  for (const int workers : {1, 2, 3, 4, 8}) {
    const double expected = std::min(workers / 0.070, 1.0 / 0.028);
    CHECK(simulated_rate(equal_workers(workers, 0.070, 0.028)) == doctest::Approx(expected).epsilon(0.002));
  }
}

TEST_CASE("asynchronous: exponential service meets exact mean value analysis") {
  for (const int workers : {2, 3, 6}) {
    ServerQueue queue = equal_workers(workers, 0.070, 0.028);
    queue.variation = ServiceVariation::exponential;
    queue.compute_variation = 0.3;
    const double expected = mean_value_rate(workers, 0.070, 0.028);
    CHECK(simulated_rate(queue) == doctest::Approx(expected).epsilon(0.015));
    // Regular service waits less than random service, and nothing beats the two limits.
    const double regular = simulated_rate(equal_workers(workers, 0.070, 0.028));
    CHECK(regular > expected);
    CHECK(regular <= 1.002 * std::min(workers / 0.070, 1.0 / 0.028));
  }
}

TEST_CASE("asynchronous: the mean staleness of n workers is n - 1 whatever their speeds") {
  ServerQueue queue = equal_workers(4, 0.070, 0.005);
  queue.workers[3].alone_s = 0.2;
  queue.compute_variation = 0.1;
  const QueueResult result = simulate_queue(queue, RandomStream({1, 0}, Purpose::test));
  CHECK(result.mean_staleness == doctest::Approx(3.0).epsilon(0.01));
}

TEST_CASE("asynchronous: while the chief pauses the others go on") {
  // 2 workers of 10 updates/s; 10 s of pause of one in the time of 1,000 updates cost 10 s · 10 / 20.
  ServerQueue queue = equal_workers(2, 0.1, 0.001);
  queue.updates = 10'000.0;
  queue.pause_s = 10.0;
  queue.pause_updates = 1'000.0;
  const double seconds = simulate_queue(queue, RandomStream({1, 0}, Purpose::test)).seconds;
  CHECK(seconds == doctest::Approx(500.0 + 9.5 * 5.0).epsilon(0.01));
}

TEST_CASE("asynchronous: the work of a worker that leaves is done by those who stay") {
  // 2 workers of 10 updates/s; one leaves after T = 100 s: N = 10 · (D + T), so D = N / 10 - T.
  ServerQueue queue = equal_workers(2, 0.1, 0.001);
  queue.updates = 5'000.0;
  queue.workers[1].leaves_s = 100.0;
  const QueueResult result = simulate_queue(queue, RandomStream({1, 0}, Purpose::test));
  CHECK(result.seconds == doctest::Approx(400.0).epsilon(0.001));
  // Stale by one update while there are two, and not at all after.
  CHECK(result.mean_staleness == doctest::Approx(2'000.0 / 5'000.0).epsilon(0.002));
}

TEST_CASE("asynchronous: a worker that joins reads the parameters of that moment") {
  // 2 workers of 10 updates/s; one joins after T = 100 s: N = 10 · (2 D - T), so D = (N / 10 + T) / 2.
  ServerQueue queue = equal_workers(2, 0.1, 0.001);
  queue.updates = 5'000.0;
  queue.workers[1].joins_s = 100.0;
  queue.evaluations = 2;
  const QueueResult result = simulate_queue(queue, RandomStream({1, 0}, Purpose::test));
  CHECK(result.seconds == doctest::Approx(300.0).epsilon(0.001));
  CHECK(result.mean_staleness == doctest::Approx(4'000.0 / 5'000.0).epsilon(0.002));
  // Half of the updates: 1,000 of the first one alone, then 1,500 of both.
  REQUIRE(result.evaluations.size() == 2);
  CHECK(result.evaluations[0].seconds == doctest::Approx(175.0).epsilon(0.001));
  CHECK(result.evaluations[0].mean_staleness == doctest::Approx(1'500.0 / 2'500.0).epsilon(0.002));
  CHECK(result.evaluations[1].seconds == result.seconds);
  CHECK(result.evaluations[1].mean_staleness == result.mean_staleness);
}

}  // namespace paceline

// Stale synchronous parallel between its two ends, BSP and ASP.
#include <algorithm>

#include <doctest/doctest.h>

#include "sim/policy/synchronization/synchronization.hpp"
#include "tests/support/test_job.hpp"

using namespace paceline;
using paceline::test::Happened;
using paceline::test::TestJob;

namespace {

TestJob uneven_job(const PhaseConfig& phase) {
  TestJob job;
  job.workers = {{1, 1.0}, {1, 0.5}, {1, 0.7}, {1, 0.9}};
  job.jitter = {.run_cv = 0.0, .worker_cv = 0.1, .iteration_cv = 0.3};
  job.network = {.bandwidth = BytesPerSecond{500.0},
                 .latency = Seconds{0.25},
                 .server_bandwidth = BytesPerSecond{500.0}};
  job.total_samples = 10 * 4 * 100;
  job.phases = {phase};
  return job;
}

PhaseConfig ssp(std::int64_t staleness) {
  return {.policy = {"ssp", {{"staleness", staleness}}}};
}

// What workers do and when: iterations, messages up, messages down.
std::vector<Happened> of_workers(const TestJob::Result& result) {
  std::vector<Happened> events;
  for (const Happened& happened : result.recording.events)
    if (std::holds_alternative<IterationFinished>(happened.event) ||
        std::holds_alternative<GradientArrived>(happened.event) ||
        std::holds_alternative<ParametersArrived>(happened.event))
      events.push_back(happened);
  return events;
}

void check_same(const std::vector<Happened>& a, const std::vector<Happened>& b) {
  REQUIRE(a.size() == b.size());
  for (std::size_t i = 0; i < a.size(); ++i) {
    CHECK(a[i].time == b[i].time);
    CHECK(order_among_equals(a[i].event) == order_among_equals(b[i].event));
  }
}

}  // namespace

TEST_CASE("SSP with an unlimited bound is ASP, event by event") {
  const auto ssp_result = uneven_job(ssp(Whole::largest)).run_ideal();
  const auto asp_result = uneven_job({.policy = "asp"}).run_ideal();
  check_same(ssp_result.recording.events, asp_result.recording.events);
}

TEST_CASE("SSP with bound 0 is BSP, event by event of the workers, when the server costs nothing") {
  // Both let everybody go at the arrival of a clock's last gradient. They differ in what the server does with
  // the gradients (one step for each, or one for all), so its own steps are left out and take no time here.
  const auto ssp_result = uneven_job(ssp(0)).run_ideal();
  const auto bsp_result = uneven_job({.policy = "bsp"}).run_ideal();
  check_same(of_workers(ssp_result), of_workers(bsp_result));
  CHECK(ssp_result.updates == 4 * bsp_result.updates);
  CHECK(ssp_result.applied_samples == bsp_result.applied_samples);
}

TEST_CASE("no worker starts a clock more than s ahead of the slowest") {
  // c - min_k c_k <= s for every iteration started, c the iterations its worker has ended; and the bound is
  // reached.
  for (const std::int64_t s : {0, 1, 3}) {
    const auto result = uneven_job(ssp(s)).run_ideal();
    std::vector<std::int64_t> ended(4, 0);
    std::int64_t furthest = 0;
    std::size_t next_action = 0;
    const auto& actions = result.recording.actions;
    for (const Happened& happened : result.recording.events) {
      for (; next_action < actions.size() && actions[next_action].time < happened.time; ++next_action)
        if (const auto* start = std::get_if<StartIteration>(&actions[next_action].action)) {
          const std::int64_t ahead =
              ended[start->worker.value] - *std::min_element(ended.begin(), ended.end());
          furthest = std::max(furthest, ahead);
        }
      if (const auto* arrived = std::get_if<GradientArrived>(&happened.event)) ++ended[arrived->worker.value];
    }
    CHECK(furthest == s);
  }
}

TEST_CASE("a worker that leaves holds nobody up, and one that joins starts at the slowest clock") {
  const auto policy = make_synchronization(ssp(0).policy);
  const std::vector<WorkerId> two{WorkerId{0}, WorkerId{1}};
  policy->begin(two);
  CHECK(policy->on_gradient(WorkerId{0}, Seconds{}).release.empty());
  CHECK(policy->on_leave(WorkerId{1}, Seconds{}).release == std::vector{WorkerId{0}});
  CHECK(policy->on_join(WorkerId{1}, Seconds{}).release == std::vector{WorkerId{1}});
  CHECK(policy->on_gradient(WorkerId{0}, Seconds{}).release.empty());
  CHECK(policy->on_gradient(WorkerId{1}, Seconds{}).release == two);
}

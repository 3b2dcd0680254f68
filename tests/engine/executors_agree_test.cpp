// The SimGrid executor against the ideal oracle, where nothing contends.
#include <algorithm>
#include <cmath>

#include <doctest/doctest.h>

#include "sim/base/check.hpp"
#include "sim/engine/fluid/fluid_timeline.hpp"
#include "sim/engine/simgrid/simgrid_timeline.hpp"
#include "tests/support/test_job.hpp"

using namespace paceline;
using paceline::test::TestJob;

namespace {

TestJob realistic_job() {
  TestJob job;
  job.workers = {{1, 1.0}, {1, 0.7}, {1, 0.43}, {1, 0.26}};
  job.network = {BytesPerSecond{125e6}, Seconds{50e-6}, BytesPerSecond{125e6}};
  job.intercept = Seconds{1.1e-3};
  job.slope_per_sample = Seconds{7.3e-5};
  job.optimizer_step = Seconds{1.7e-5};
  job.server_rate = BytesPerSecond{3e9};
  job.parameter_bytes = Bytes{100000.0};
  job.jitter = {.run_cv = 0.02, .worker_cv = 0.01, .iteration_cv = 0.05};
  job.batching.initial_samples = 32;
  job.total_samples = 32 * 2000;
  return job;
}

void check_same(const TestJob::Result& simgrid, const TestJob::Result& ideal) {
  REQUIRE_FALSE(simgrid.stalled.has_value());
  REQUIRE_FALSE(ideal.stalled.has_value());
  REQUIRE(simgrid.recording.events.size() == ideal.recording.events.size());
  double worst = 0.0;
  for (std::size_t i = 0; i < ideal.recording.events.size(); ++i) {
    const auto& a = simgrid.recording.events[i];
    const auto& b = ideal.recording.events[i];
    REQUIRE(order_among_equals(a.event) == order_among_equals(b.event));
    if (b.time.value() > 0.0) worst = std::max(worst, std::abs(a.time / b.time - 1.0));
  }
  CHECK(simgrid.updates == ideal.updates);
  // |t_simgrid / t_ideal - 1| <= 1e-9 for every event
  CHECK(worst <= 1e-9);
  MESSAGE("largest relative difference of " << ideal.recording.events.size() << " events: " << worst);
}

TestJob::Result run_simgrid(const TestJob& job) {
  const auto timeline = make_simgrid_timeline(job.cluster());
  NoLearner learner;
  TestJob::Result result;
  job.run_on(*timeline, learner, result);
  return result;
}

TestJob::Result run_on_fluid(const TestJob& job) {
  FluidTimeline timeline(job.cluster(), job.shortcuts);
  NoLearner learner;
  TestJob::Result result;
  job.run_on(timeline, learner, result);
  return result;
}

}  // namespace

TEST_CASE("BSP over a ring takes the same time under SimGrid as in closed form, event by event") {
  TestJob job = realistic_job();
  job.phases = {{.transport = Transport::ring}};
  job.batching.controller = "dynamic";
  check_same(run_simgrid(job), job.run_ideal());
}

TEST_CASE("ASP of one worker over a server takes the same time under SimGrid as in closed form") {
  TestJob job = realistic_job();
  job.workers = {{1, 0.7}};
  job.phases = {{.policy = "asp"}};
  check_same(run_simgrid(job), job.run_ideal());
}

TEST_CASE("ASP of four workers whose messages are too short to meet agrees event by event") {
  TestJob job = realistic_job();
  job.network.bandwidth = BytesPerSecond{1e18};
  job.network.server_bandwidth = BytesPerSecond{1e18};
  job.phases = {{.policy = "asp"}};
  check_same(run_simgrid(job), job.run_ideal());
}

TEST_CASE("BSP over a server whose links are too fast to meet agrees event by event") {
  TestJob job = realistic_job();
  job.network.bandwidth = BytesPerSecond{1e18};
  job.network.server_bandwidth = BytesPerSecond{1e18};
  check_same(run_simgrid(job), job.run_ideal());
}

TEST_CASE("ASP and BSP over servers that hold uneven parts agree event by event") {
  TestJob job = realistic_job();
  job.network.bandwidth = BytesPerSecond{1e18};
  job.network.server_bandwidth = BytesPerSecond{1e18};
  job.servers = 2;
  job.split = ParameterSplit::whole_variables;
  job.variables = {Bytes{60000.0}, Bytes{10000.0}, Bytes{30000.0}};
  job.costs.communication.server_variable = Seconds{2.3e-5};
  for (const char* policy : {"bsp", "asp"}) {
    job.phases = {{.policy = policy}};
    check_same(run_on_fluid(job), job.run_ideal());
  }
  check_same(run_simgrid(job), job.run_ideal());
}

TEST_CASE("BSP over a ring of four, a pause, then ASP agrees event by event") {
  TestJob job = realistic_job();
  job.network.bandwidth = BytesPerSecond{1e18};
  job.network.server_bandwidth = BytesPerSecond{1e18};
  job.phases = {{.transport = Transport::ring, .length = ShareOfJob{0.3}},
                {.policy = "asp", .length = ShareOfJob{0.7}}};
  job.costs.switching = {{}, {.time = Seconds{0.25}}};
  check_same(run_simgrid(job), job.run_ideal());
}

TEST_CASE("two gradients sent at once share the server's link") {
  // Both workers finish at 10 s and send 1000 B over a server link of 100 B/s: max-min gives each 50 B/s, so
  // both arrive at 10 + 1000 / 50 = 30 s. Alone each would arrive at 20 s.
  TestJob job;
  job.workers = {{}, {}};
  job.network = {BytesPerSecond{1000.0}, Seconds{0.0}, BytesPerSecond{100.0}};
  job.total_samples = 20;
  const auto result = run_simgrid(job);
  int arrivals = 0;
  for (const auto& happened : result.recording.events) {
    if (!std::holds_alternative<GradientArrived>(happened.event)) continue;
    CHECK(happened.time.value() == doctest::Approx(30.0).epsilon(1e-12));
    ++arrivals;
  }
  CHECK(arrivals == 2);
}

TEST_CASE("a second simulation in one process is refused, because SimGrid's clock would go on") {
  const TestJob job;
  const auto first = make_simgrid_timeline(job.cluster());
  CHECK_THROWS_AS(static_cast<void>(make_simgrid_timeline(job.cluster())), ProgrammingError);
}

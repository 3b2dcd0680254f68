// The coordinator under the ideal executor, against formulas one can check by hand.
#include <algorithm>
#include <cmath>
#include <map>

#include <doctest/doctest.h>

#include "tests/support/test_job.hpp"

using namespace paceline;
using paceline::test::TestJob;

TEST_CASE("a BSP round takes the slowest worker's computation, the messages and the server's work") {
  // Speeds 1, 1/2, 1/4 on 10 samples of 1 s: 10, 20, 40 s. Push and pull 1000 B at 100 B/s with 1 s latency:
  // 11 s each way. Server at 500 B/s: accumulate 2 s (only the last one is waited for), step 2 s.
  // Round = 40 + 11 + 2 + 2 = 55 s; the next begins after the pull: + 11 s.
  TestJob job;
  job.workers = {{1, 1.0}, {1, 0.5}, {1, 0.25}};
  job.network = {BytesPerSecond{100.0}, Seconds{1.0}, BytesPerSecond{100.0}};
  job.server_rate = BytesPerSecond{500.0};
  job.total_samples = 4 * 30;
  const auto result = job.run_ideal();
  const auto updates = result.recording.all<Apply>();
  REQUIRE(updates.size() == 4);
  for (std::size_t i = 0; i < updates.size(); ++i)
    CHECK(updates[i].first.value() == doctest::Approx(55.0 + 66.0 * static_cast<double>(i)));
}

TEST_CASE("a BSP round over a ring takes max(compute) + 2(n-1)(L + B/(n·bw)) + step") {
  // 4 workers, slowest 40 s; 2·3·(1 + 250/100) = 21 s; optimizer step of the slowest 0.3 / 0.25 = 1.2 s
  TestJob job;
  job.workers = {{1, 1.0}, {1, 0.5}, {1, 0.25}, {1, 1.0}};
  job.network = {BytesPerSecond{100.0}, Seconds{1.0}, BytesPerSecond{100.0}};
  job.phases = {{.transport = Transport::ring}};
  job.optimizer_step = Seconds{0.3};
  job.total_samples = 3 * 40;
  const auto result = job.run_ideal();
  const auto updates = result.recording.all<Apply>();
  REQUIRE(updates.size() == 3);
  for (std::size_t i = 0; i < updates.size(); ++i)
    CHECK(updates[i].first.value() == doctest::Approx(62.2 * static_cast<double>(i + 1)));
}

TEST_CASE("ASP workers without communication run at their own pace") {
  // Speeds 1 and 1/4: updates of worker 0 at 10, 20, 30, …, of worker 1 at 40, 80, …
  TestJob job;
  job.workers = {{1, 1.0}, {1, 0.25}};
  job.phases = {{.policy = "asp"}};
  job.total_samples = 100;
  const auto result = job.run_ideal();
  std::vector<double> of_worker[2];
  for (const auto& [time, update] : result.recording.all<Apply>())
    of_worker[update.gradients[0].worker.value].push_back(time.value());
  CHECK(of_worker[0] == std::vector<double>{10, 20, 30, 40, 50, 60, 70, 80});
  CHECK(of_worker[1] == std::vector<double>{40, 80});
}

TEST_CASE("a server applies one gradient at a time, in the order of arrival") {
  // Three equal workers arrive together at 10 s; each step takes 1000 / 250 = 4 s: applied at 14, 18, 22 s.
  TestJob job;
  job.workers = {{}, {}, {}};
  job.phases = {{.policy = "asp"}};
  job.server_rate = BytesPerSecond{250.0};
  job.total_samples = 30;
  const auto updates = job.run_ideal().recording.all<Apply>();
  REQUIRE(updates.size() == 3);
  for (std::size_t i = 0; i < 3; ++i) {
    CHECK(updates[i].first.value() == doctest::Approx(14.0 + 4.0 * static_cast<double>(i)));
    CHECK(updates[i].second.gradients[0].worker.value == i);
  }
}

TEST_CASE("staleness counts the updates between a worker's pull and its own application") {
  // Speeds 1 and 1/4 (see above): worker 1's first gradient is applied at 40 s, after worker 0's at 10, 20,
  // 30 and 40 (worker 0 goes first at equal times): staleness 4. Worker 0's gradients in between: 0; the one
  // after: 1.
  TestJob job;
  job.workers = {{1, 1.0}, {1, 0.25}};
  job.phases = {{.policy = "asp"}};
  job.total_samples = 60;
  std::vector<std::uint64_t> staleness;
  for (const auto& [time, update] : job.run_ideal().recording.all<Apply>())
    staleness.push_back(update.gradients[0].staleness);
  CHECK(staleness == std::vector<std::uint64_t>{0, 0, 0, 0, 4, 1});
}

TEST_CASE(
    "steady ASP that reads at the instant of its own apply has mean staleness W - 1, whatever the speeds") {
  // An apply adds 1 to the staleness of each of the other W - 1 workers, which are all between read and
  // apply. Over a whole run of U updates the first read of each worker loses at most W(W-1)/2 of these: mean
  // in [W - 1 - W(W-1)/U, W - 1].
  TestJob job;
  job.workers = {{1, 1.0}, {1, 1.0}, {1, 1.0}, {1, 4.0}, {1, 0.37}};
  job.jitter = {.run_cv = 0.0, .worker_cv = 0.1, .iteration_cv = 0.5};
  job.phases = {{.policy = "asp"}};
  job.total_samples = 10 * 20000;
  double sum = 0.0;
  double count = 0.0;
  for (const auto& [time, update] : job.run_ideal().recording.all<Apply>()) {
    sum += static_cast<double>(update.gradients[0].staleness);
    count += 1.0;
  }
  CHECK(sum / count <= 4.0);
  CHECK(sum / count >= 4.0 - 20.0 / count);
}

TEST_CASE("BSP gradients are never stale and their weights sum to one") {
  TestJob job;
  job.batching.controller = "dynamic";
  job.workers = {{1, 1.0}, {1, 0.5}, {1, 0.3}};
  job.batching.initial_samples = 64;
  job.total_samples = 64 * 300;
  const auto updates = job.run_ideal().recording.all<Apply>();
  REQUIRE(updates.size() > 50);
  for (const auto& [time, update] : updates) {
    CHECK(update.gradients.size() == 3);
    double weights = 0.0;
    for (const AppliedGradient& gradient : update.gradients) {
      CHECK(gradient.staleness == 0);
      weights += gradient.weight;
    }
    CHECK(weights == doctest::Approx(1.0).epsilon(1e-12));
  }
}

TEST_CASE("phases follow their shares, in samples, and nothing is in flight between them") {
  // 25 % of 400 samples under BSP (rounds of 40): 100 -> ends at 120 (a round is handed out whole); the rest
  // under ASP ends at exactly 400. One pause of 7 s between them.
  TestJob job;
  job.phases = {{.length = ShareOfJob{0.25}}, {.policy = "asp", .length = ShareOfJob{0.75}}};
  job.costs.switching = {{}, {.time = Seconds{7.0}}};
  const auto result = job.run_ideal();
  const auto phases = result.recording.all<EnterPhase>();
  REQUIRE(phases.size() == 2);
  CHECK(result.applied_samples == 400);
  // 3 BSP rounds of 10 s, then 7 s of pause
  CHECK(phases[1].first.value() == doctest::Approx(37.0));
  std::int64_t before_switch = 0;
  for (const auto& [time, update] : result.recording.all<Apply>())
    if (time < phases[1].first)
      for (const AppliedGradient& gradient : update.gradients) before_switch += gradient.batch_samples;
  CHECK(before_switch == 120);
}

TEST_CASE("everything started is applied: gradients and samples are conserved") {
  for (const char* kind : {"bsp", "asp"}) {
    TestJob job;
    job.workers = {{1, 1.0}, {1, 0.7}, {1, 0.41}, {1, 0.33}, {1, 0.9}};
    job.jitter = {.run_cv = 0.05, .worker_cv = 0.1, .iteration_cv = 0.3};
    job.network = {BytesPerSecond{500.0}, Seconds{0.1}, BytesPerSecond{900.0}};
    job.server_rate = BytesPerSecond{2000.0};
    job.batching.controller = "dynamic";
    job.phases = {{.policy = kind}};
    job.total_samples = 5003;
    const auto result = job.run_ideal();
    std::size_t applied = 0;
    std::int64_t applied_samples = 0;
    for (const auto& [time, update] : result.recording.all<Apply>()) {
      applied += update.gradients.size();
      for (const AppliedGradient& gradient : update.gradients) applied_samples += gradient.batch_samples;
    }
    std::int64_t started_samples = 0;
    for (const auto& [time, start] : result.recording.all<StartIteration>())
      started_samples += start.batch_samples;
    CHECK(applied == result.recording.all<StartIteration>().size());
    CHECK(applied_samples == started_samples);
    CHECK(applied_samples >= job.total_samples);
    // Work is handed out while less than all of it is: at most one group of the last batches beyond it.
    std::int64_t last_group = 0;
    std::map<std::uint64_t, std::int64_t> last_batch;
    for (const auto& [time, start] : result.recording.all<StartIteration>())
      last_batch[start.worker.value] = start.batch_samples;
    for (const auto& [worker, batch] : last_batch) last_group += batch;
    CHECK(applied_samples < job.total_samples + last_group);
  }
}

TEST_CASE("the clock never goes back") {
  TestJob job;
  job.workers = {{1, 1.0}, {1, 0.7}, {1, 0.41}};
  job.jitter.iteration_cv = 0.5;
  job.phases = {{.policy = "asp"}};
  const auto result = job.run_ideal();
  CHECK(std::is_sorted(result.recording.events.begin(), result.recording.events.end(),
                       [](const auto& a, const auto& b) { return a.time < b.time; }));
}

TEST_CASE("doubling every rate halves every time and changes nothing else") {
  TestJob job;
  job.workers = {{1, 1.0}, {1, 0.7}, {1, 0.41}};
  job.jitter.iteration_cv = 0.3;
  job.network = {BytesPerSecond{500.0}, Seconds{0.5}, BytesPerSecond{700.0}};
  job.server_rate = BytesPerSecond{3000.0};
  job.phases = {{.policy = "asp"}};
  const auto slow = job.run_ideal();
  job.slope_per_sample = job.slope_per_sample / 2.0;
  job.network = {BytesPerSecond{1000.0}, Seconds{0.25}, BytesPerSecond{1400.0}};
  job.server_rate = BytesPerSecond{6000.0};
  const auto fast = job.run_ideal();
  REQUIRE(fast.recording.events.size() == slow.recording.events.size());
  for (std::size_t i = 0; i < slow.recording.events.size(); ++i) {
    CHECK(2.0 * fast.recording.events[i].time.value() ==
          doctest::Approx(slow.recording.events[i].time.value()).epsilon(1e-12));
    CHECK(order_among_equals(fast.recording.events[i].event) ==
          order_among_equals(slow.recording.events[i].event));
  }
}

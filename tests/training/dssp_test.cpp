// Dynamic stale synchronous parallel: its decisions by hand, and its range.
#include <algorithm>

#include <doctest/doctest.h>

#include "sim/policy/synchronization/synchronization.hpp"
#include "tests/support/test_job.hpp"

using namespace paceline;
using paceline::test::TestJob;

namespace {

constexpr WorkerId fast{0};
constexpr WorkerId slow{1};
using Released = std::vector<WorkerId>;

PhaseConfig dssp(std::int64_t staleness, std::int64_t maximum) {
  return {.policy = {"dssp", {{"staleness", staleness}, {"staleness_maximum", maximum}}}};
}

std::unique_ptr<SynchronizationPolicy> dssp_of_two(std::int64_t staleness, std::int64_t maximum) {
  auto policy = make_synchronization(dssp(staleness, maximum).policy);
  policy->begin(std::vector{fast, slow});
  return policy;
}

Released push(SynchronizationPolicy& policy, WorkerId worker, double at_s) {
  const SynchronizationDecision decision = policy.on_gradient(worker, Seconds{at_s});
  CHECK(decision.combine == Released{worker});
  return decision.release;
}

TestJob uneven_job(const PhaseConfig& phase) {
  TestJob job;
  job.workers = {{1, 1.0}, {1, 0.3}, {1, 0.7}, {1, 0.9}};
  job.jitter = {.run_cv = 0.0, .worker_cv = 0.1, .iteration_cv = 0.3};
  job.network = {.bandwidth = BytesPerSecond{500.0},
                 .latency = Seconds{0.25},
                 .server_bandwidth = BytesPerSecond{500.0}};
  job.total_samples = 10 * 4 * 100;
  job.phases = {phase};
  return job;
}

// The most iterations by which a worker that starts one is ahead of the slowest.
std::int64_t furthest_ahead(const TestJob::Result& result) {
  std::vector<std::int64_t> ended(4, 0);
  std::int64_t furthest = 0;
  std::size_t next_action = 0;
  const auto& actions = result.recording.actions;
  for (const auto& happened : result.recording.events) {
    for (; next_action < actions.size() && actions[next_action].time < happened.time; ++next_action)
      if (const auto* start = std::get_if<StartIteration>(&actions[next_action].action))
        furthest = std::max(furthest, ended[start->worker.value] - *std::ranges::min_element(ended));
    if (const auto* arrived = std::get_if<GradientArrived>(&happened.event)) ++ended[arrived->worker.value];
  }
  return furthest;
}

}  // namespace

TEST_CASE("DSSP grants the fastest worker the iterations after which the slowest is expected soonest") {
  // s_L = 3, s_U = 6. The fast worker pushes every second, the slow one every 2.4 s: at 6 s the clocks are 6
  // and 2.
  const auto policy = dssp_of_two(3, 6);
  for (const double at_s : {1.0, 2.0}) CHECK(push(*policy, fast, at_s) == Released{fast});
  CHECK(push(*policy, slow, 2.4) == Released{slow});
  for (const double at_s : {3.0, 4.0}) CHECK(push(*policy, fast, at_s) == Released{fast});
  CHECK(push(*policy, slow, 4.8) == Released{slow});
  CHECK(push(*policy, fast, 5.0) == Released{fast});
  // 4 ahead. Expected pushes of the slow one: 7.2, 9.6, 12, 14.4 s. After r = 0, 1, 2, 3 more the fast one is
  // at 6, 7, 8, 9 s: 1.2, 0.2, 0.8, 0.6 s from the nearest of them. r* = 1.
  CHECK(push(*policy, fast, 6.0) == Released{fast});
  // 5 ahead, and 2 of the range are left: 7, 8, 9 s are 0.2, 0.8, 0.6 s from 7.2 or 9.6 s. r* = 0: it waits …
  CHECK(push(*policy, fast, 7.0).empty());
  CHECK(push(*policy, slow, 7.2) == Released{slow});        // … 4 ahead …
  CHECK(push(*policy, slow, 9.6) == Released{fast, slow});  // … until it is 3 ahead.
}

TEST_CASE("DSSP lets the fastest worker use its grant to the end without deciding again") {
  // s_L = 1, s_U = 5. Pushes every second and every 10 s: the slow one's second at 20 s. Until it is known
  // how fast the slow one is, the fast one is held at s_L as under SSP.
  const auto policy = dssp_of_two(1, 5);
  CHECK(push(*policy, fast, 1.0) == Released{fast});
  CHECK(push(*policy, fast, 2.0).empty());
  CHECK(push(*policy, slow, 10.0) == Released{fast, slow});
  CHECK(push(*policy, fast, 11.0).empty());
  CHECK(push(*policy, slow, 20.0) == Released{fast, slow});
  // Clocks 4 and 2 at 21 s; the last interval, waiting included, is 21 − 11 = 10 s. Expected: 30, 40, 50, 60,
  // 70 s; own: 21, 31, 41, 51, 61 s: 9, 1, 1, 1, 1 s. The first of the equals, r* = 1.
  CHECK(push(*policy, fast, 21.0) == Released{fast});
  // 3 ahead, interval 1 s; own 22, 23, 24, 25 s: 8, 7, 6, 5 s from 30 s. r* = 3 is what is left of the range:
  // to 25 s.
  for (const double at_s : {22.0, 23.0, 24.0}) CHECK(push(*policy, fast, at_s) == Released{fast});
  CHECK(push(*policy, fast, 25.0).empty());
}

TEST_CASE("DSSP grants the fewest of equally good iterations, whatever the last digits say") {
  // As above in tenths of a second. At 2.1 s: expected 3, 4, 5, … s; own 2.1, 3.1, 4.1, … s: 0.9, then 0.1 s
  // each, of which in binary 4.1 − 4 is less than 3.1 − 3. r* = 1 all the same.
  const auto policy = dssp_of_two(1, 5);
  CHECK(push(*policy, fast, 0.1) == Released{fast});
  CHECK(push(*policy, fast, 0.2).empty());
  CHECK(push(*policy, slow, 1.0) == Released{fast, slow});
  CHECK(push(*policy, fast, 1.1).empty());
  CHECK(push(*policy, slow, 2.0) == Released{fast, slow});
  CHECK(push(*policy, fast, 2.1) == Released{fast});
  // The grant is used up, and at 3 s the slow one is expected at once: r* = 0.
  CHECK(push(*policy, fast, 3.0).empty());
}

TEST_CASE("DSSP grants nothing before both the fastest and the slowest worker pushed twice") {
  // s_L = 1, s_U = 5. The slow worker has pushed never, then once: how fast it is is not known.
  const auto slow_is_unknown = dssp_of_two(1, 5);
  CHECK(push(*slow_is_unknown, fast, 1.0) == Released{fast});
  CHECK(push(*slow_is_unknown, fast, 2.0).empty());
  CHECK(push(*slow_is_unknown, slow, 3.0) == Released{fast, slow});
  CHECK(push(*slow_is_unknown, fast, 4.0).empty());
  // s_L = 0: a newcomer counts from the slowest, and is ahead after a push of its own, the only one of it.
  const WorkerId newcomer{2};
  const auto fast_is_unknown = dssp_of_two(0, 5);
  for (const double at_s : {1.0, 2.0}) {
    CHECK(push(*fast_is_unknown, fast, at_s).empty());
    CHECK(push(*fast_is_unknown, slow, at_s + 0.5) == Released{fast, slow});
  }
  CHECK(fast_is_unknown->on_join(newcomer, Seconds{3.0}).release == Released{newcomer});
  CHECK(push(*fast_is_unknown, newcomer, 3.5).empty());
}

TEST_CASE("under DSSP only the fastest worker gets a grant, and nobody waits for one that left") {
  const WorkerId third{2};
  const auto policy = make_synchronization(dssp(0, 3).policy);
  policy->begin(std::vector{fast, slow, third});
  for (const double round_s : {0.0, 4.0}) {  // with s_L = 0 all wait for the last of them
    CHECK(push(*policy, fast, round_s + 1).empty());
    CHECK(push(*policy, third, round_s + 2).empty());
    CHECK(push(*policy, slow, round_s + 4).size() == 3);
  }
  // Intervals 4 s. At 9 s: expected 12, 16, …; own 9, 13, 17, 21 s: 3, 1, 1, 1 s. r* = 1. At 10 s, one
  // interval of 1 s later: own 10, 11, 12 s. r* = 2.
  CHECK(push(*policy, fast, 9.0) == Released{fast});
  CHECK(push(*policy, fast, 10.0) == Released{fast});
  // One more of the third's intervals of 5 s would end with a push of the slow one, at 16 s; but the fast one
  // is ahead of it.
  CHECK(push(*policy, third, 11.0).empty());
  CHECK(policy->on_leave(slow, Seconds{11.5}).release == Released{third});
  CHECK(policy->on_join(slow, Seconds{12.0}).release == Released{slow});
}

TEST_CASE("DSSP without a range is SSP, event by event") {
  const auto with_range_0 = uneven_job(dssp(2, 2)).run_ideal();
  const auto ssp = uneven_job({.policy = {"ssp", {{"staleness", 2}}}}).run_ideal();
  REQUIRE(with_range_0.recording.events.size() == ssp.recording.events.size());
  for (std::size_t i = 0; i < ssp.recording.events.size(); ++i)
    CHECK(with_range_0.recording.events[i].time == ssp.recording.events[i].time);
}

TEST_CASE(
    "under DSSP nobody starts an iteration more than s_U ahead of the slowest, and somebody more than s_L") {
  const std::int64_t furthest = furthest_ahead(uneven_job(dssp(1, 4)).run_ideal());
  CHECK(furthest > 1);
  CHECK(furthest <= 4);
}

// What going on after a rest takes: found again where it is known.
#include "calibrate/logs/rest_cost.hpp"

#include <doctest/doctest.h>

#include "sim/base/diagnostic.hpp"

using namespace paceline;
using namespace paceline::calibrate;

namespace {

constexpr double step_s = 2e-3;

// Steps of 2 ms, of which each tenth is stopped for one of these rests in turn. It takes `more` longer, of
// which a third falls on the step after it.
std::vector<OwnStep> stopped_steps(const std::vector<Seconds>& rests, double more_s) {
  std::vector<OwnStep> steps;
  for (int i = 0; i < 1000; ++i) {
    const bool is_stopped = i % 10 == 5;
    const double longer_s = is_stopped ? more_s * 2.0 / 3.0 : i % 10 == 6 ? more_s / 3.0 : 0.0;
    const double rest_s = is_stopped ? rests[static_cast<std::size_t>(i / 10) % rests.size()].value() : 0.0;
    steps.push_back({i, step_s + longer_s + rest_s, step_s + longer_s, 32});
  }
  return steps;
}

}  // namespace

TEST_CASE(
    "going on costs what iterations take longer than after the shortest rest, and never less than nothing") {
  const std::vector<RestCost> costs = resume_costs(
      {{Seconds{5e-4}, Seconds{1e-3}}, {Seconds{2e-3}, Seconds{1.3e-3}}, {Seconds{4e-3}, Seconds{0.9e-3}}});
  REQUIRE(costs.size() == 3);
  CHECK(costs[0].rest == Seconds{5e-4});
  CHECK(costs[0].time == Seconds{});
  CHECK(costs[1].time.value() == doctest::Approx(3e-4));
  CHECK(costs[2].time == Seconds{});
  CHECK(scenario_words(costs) ==
        "resume: [{rest: 0.5 ms, time: 0 ms}, {rest: 2 ms, time: 0.3 ms}, {rest: 4 ms, time: 0 ms}]");
}

TEST_CASE(
    "steps of a loop that is stopped tell what going on takes, in the step stopped and those after it") {
  const std::vector<Seconds> rests = {Seconds{1e-3}, Seconds{4e-3}};
  const std::vector<RestedIteration> found = rested_steps(stopped_steps(rests, 3e-4), 10, rests, "a loop");
  REQUIRE(found.size() == 3);
  CHECK(found[0].rest == Seconds{});
  CHECK(found[0].processor_time.value() == doctest::Approx(step_s));
  for (const std::size_t r : {1U, 2U}) {
    CAPTURE(r);
    CHECK(found[r].rest.value() == doctest::Approx(rests[r - 1].value()));
    CHECK(found[r].processor_time.value() == doctest::Approx(step_s + 3e-4));
    CHECK(found[r].count >= 49);
  }
}

TEST_CASE("a loop that no stop has met is refused: its rests are those of a shell, or it was too short") {
  const std::vector<OwnStep> steps(100, {0, step_s, step_s, 32});
  CHECK_THROWS_AS(static_cast<void>(rested_steps(steps, 10, {Seconds{1e-3}}, "a loop")), UserError);
}

TEST_CASE(
    "what going on takes is told beside steps of the same moments, on a machine that changes its speed") {
  // Each stretch of 20 steps begins with one that was stopped for 60 ms: 1.6 ms longer, spread over four steps.
  // From the 500th step on the machine is 1.5 times as slow, and so is this: the mean is 1.25 times 1.6 ms.
  std::vector<OwnStep> steps;
  for (int i = 0; i < 1000; ++i) {
    const double slowness = i < 500 ? 1.0 : 1.5;
    const double processor_s = slowness * (step_s + (i % 20 < 4 ? 4e-4 : 0.0));
    steps.push_back({i, processor_s + (i % 20 == 0 ? 0.06 : 0.0), processor_s, 32});
  }
  const auto cost = cost_of_stops(steps, 0, Seconds{0.06});
  REQUIRE(cost.has_value());
  CHECK(cost->value() == doctest::Approx(1.25 * 1.6e-3).epsilon(0.02));
}

TEST_CASE("steps of which fewer than four lie between stops do not tell what going on takes") {
  std::vector<OwnStep> steps;
  for (int i = 0; i < 1000; ++i) steps.push_back({i, i % 3 == 0 ? 0.08 : 0.02, 0.02, 32});
  CHECK_FALSE(cost_of_stops(steps, 0, Seconds{0.06}).has_value());
  for (int i = 0; i < 1000; ++i) steps[static_cast<std::size_t>(i)].wall_s = i % 4 == 0 ? 0.08 : 0.02;
  CHECK(cost_of_stops(steps, 0, Seconds{0.06}) == Seconds{});
}

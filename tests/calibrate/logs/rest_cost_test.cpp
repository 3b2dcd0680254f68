// What going on after a rest takes: found again where it is known.
#include "calibrate/logs/rest_cost.hpp"

#include <doctest/doctest.h>

#include "sim/base/diagnostic.hpp"

using namespace paceline;
using namespace paceline::calibrate;

namespace {

constexpr double step_s = 2e-3;

// Steps of 2 ms, of which each 20th is stopped for one of these rests in turn. It takes `more` longer, of
// which a third falls on the step after it.
std::vector<OwnStep> stopped_steps(const std::vector<Seconds>& rests, double more_s) {
  std::vector<OwnStep> steps;
  for (int i = 0; i < 1000; ++i) {
    const bool is_stopped = i % 20 == 5;
    const double longer_s = is_stopped ? more_s * 2.0 / 3.0 : i % 20 == 6 ? more_s / 3.0 : 0.0;
    const double rest_s = is_stopped ? rests[static_cast<std::size_t>(i / 20) % rests.size()].value() : 0.0;
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
  const std::vector<RestedIteration> found = rested_steps(stopped_steps(rests, 3e-4), 10, rests, 1, "a loop");
  REQUIRE(found.size() == 3);
  CHECK(found[0].rest == Seconds{});
  CHECK(found[0].processor_time.value() == doctest::Approx(step_s));
  for (const std::size_t r : {1U, 2U}) {
    CAPTURE(r);
    CHECK(found[r].rest.value() == doctest::Approx(rests[r - 1].value()));
    CHECK(found[r].processor_time.value() == doctest::Approx(step_s + 3e-4));
    CHECK(found[r].count >= 24);
  }
  // Times of the processor are shared among the cores that a loop computes on.
  CHECK(rested_steps(stopped_steps(rests, 3e-4), 10, rests, 2, "a loop")[1].processor_time.value() ==
        doctest::Approx((step_s + 3e-4) / 2.0));
}

TEST_CASE("a loop that no stop has met is refused: its rests are those of a shell, or it was too short") {
  const std::vector<OwnStep> steps(100, {0, step_s, step_s, 32});
  CHECK_THROWS_AS(static_cast<void>(rested_steps(steps, 10, {Seconds{1e-3}}, 1, "a loop")), UserError);
}

TEST_CASE("what going on takes is told beside steps of the same moments, if the machine changes its speed") {
  // Nothing is stopped for 500 steps, then each 20th for 60 ms: longer by 0.9, 0.5, 0.2, 0.1 and 0.05 ms from
  // that one on, 1.75 ms together. Everything takes 1.5 times as long then, and so does this.
  const std::vector<double> longer_s = {9e-4, 5e-4, 2e-4, 1e-4, 5e-5};
  std::vector<OwnStep> steps;
  for (int i = 0; i < 1000; ++i) {
    const auto after = static_cast<std::size_t>(i % 20);
    const bool is_slow = i >= 500;
    const double more_s = is_slow && after < longer_s.size() ? longer_s[after] : 0.0;
    const double processor_s = (is_slow ? 1.5 : 1.0) * (step_s + more_s);
    steps.push_back({i, processor_s + (is_slow && after == 0 ? 0.06 : 0.0), processor_s, 32});
  }
  const std::vector<RestedIteration> found = rested_steps(steps, 0, {Seconds{0.06}}, 1, "a loop");
  CHECK((found[1].processor_time - found[0].processor_time).value() == doctest::Approx(1.5 * 1.75e-3));
}

TEST_CASE("stops with fewer than twelve steps from one to the next tell nothing of what going on takes") {
  const auto found = [](int steps_apart) {
    std::vector<OwnStep> steps;
    for (int i = 0; i < 1000; ++i)
      steps.push_back({i, i % steps_apart == 0 ? step_s + 0.06 : step_s, step_s, 32});
    return rested_steps(steps, 0, {Seconds{0.06}}, 1, "a loop");
  };
  CHECK_THROWS_AS(static_cast<void>(found(11)), UserError);
  CHECK(found(12).back().count >= 82);
}

TEST_CASE("waits for others that no rest explains do not part the steps after a stop") {
  // Each fifth step waits 5 ms for another program; each 20th is stopped for 60 ms and takes 0.3 ms longer.
  std::vector<OwnStep> steps;
  for (int i = 0; i < 1000; ++i) {
    const double processor_s = step_s + (i % 20 == 0 ? 3e-4 : 0.0);
    const double wait_s = i % 20 == 0 ? 0.06 : i % 5 == 0 ? 5e-3 : 0.0;
    steps.push_back({i, processor_s + wait_s, processor_s, 32});
  }
  const std::vector<RestedIteration> found = rested_steps(steps, 0, {Seconds{0.06}}, 1, "a loop");
  CHECK(found[1].count == 49);
  CHECK((found[1].processor_time - found[0].processor_time).value() == doctest::Approx(3e-4));
}

#include "calibrate/live/sharing_timing.hpp"

#include <doctest/doctest.h>

#include "calibrate/live/processor_turns.hpp"

using namespace paceline;
using namespace paceline::live;

TEST_CASE("speeds are medians of each pass's times alone over together, and never grow with more processes") {
  // Passes of a machine that is twice as slow in the second: T_1/T_2 = 0.8, 0.8, 0.7; T_1/T_3 = 0.5, 0.9,
  // 0.85: the median 0.85 is more than two processes had.
  const auto pass = [](double factor, double second, double third) {
    return SharingPass{Seconds{factor}, Seconds{factor / second}, Seconds{factor / third}};
  };
  const SharingTimes times = sharing_of({pass(1.0, 0.8, 0.5), pass(2.0, 0.8, 0.9), pass(1.0, 0.7, 0.85)}, 3);
  CHECK(times.alone.value() == 1.0);
  REQUIRE(times.speeds.size() == 3);
  CHECK(times.speeds[0] == 1.0);
  CHECK(times.speeds[1] == doctest::Approx(0.8));
  CHECK(times.speeds[2] == doctest::Approx(0.8));
  CHECK(scenario_words(times) == "cores: 3, speeds: [1, 0.8, 0.8]");
  // Three that take turns on two cores get two thirds of one each, whatever was measured.
  CHECK(sharing_of({pass(1.0, 0.8, 0.75)}, 2).speeds[2] == doctest::Approx(2.0 / 3.0));
}

TEST_CASE("what is measured here has the cores and the turns of this machine") {
  const SharingTimes times = sharing_here({{Seconds{1.0}, Seconds{1.25}}});
  CHECK(times.cores == usable_cores());
  CHECK(times.turns == processor_turns());
  SharingTimes stated{2, {}, {1.0, 0.9}};
  stated.turns = Turns{Seconds{1.4e-3}, true};
  CHECK(scenario_words(stated) == "cores: 2, speeds: [1, 0.9], turns: {length: 1.4 ms, servers_first: true}");
}

TEST_CASE("a process that is quicker beside others than alone counts as undisturbed") {
  CHECK(sharing_of({{Seconds{1.0}, Seconds{0.9}}}, 4).speeds == std::vector<double>{1.0, 1.0});
}

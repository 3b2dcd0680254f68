#include "calibrate/live/processor_turns.hpp"

#include <doctest/doctest.h>

#include "calibrate/live/steady_machine.hpp"

using namespace paceline;
using namespace paceline::live;

TEST_CASE("the kernel's turns are the same for a thread that goes first in line, as a server does") {
  const std::optional<Turns> usual = processor_turns();
  if (!usual) {
    MESSAGE("left out: the kernel does not say how long a turn is (before Linux 6.12)");
    return;
  }
  CHECK_FALSE(usual->servers_first);
  // The kernel takes slices of 0.1 to 100 ms.
  CHECK(usual->length >= Seconds{1e-4});
  CHECK(usual->length <= Seconds{0.1});
  const FirstInLine server;
  if (!server.why_not().empty()) {
    MESSAGE("left out: ", server.why_not());
    return;
  }
  CHECK(processor_turns() == Turns{usual->length, true});
}

TEST_CASE("turns are told as a scenario states them") {
  CHECK(scenario_words(Turns{Seconds{1.4e-3}, true}) == "turns: {length: 1.4 ms, servers_first: true}");
  CHECK(scenario_words(Turns{Seconds{3e-3}, false}) == "turns: {length: 3 ms, servers_first: false}");
}

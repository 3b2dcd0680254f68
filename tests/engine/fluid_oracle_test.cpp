// The fluid timeline against SimGrid: every date the same.
#include <doctest/doctest.h>

#include "tests/engine/network_traffic.hpp"

using namespace paceline;
using namespace paceline::test;

TEST_CASE("fluid and SimGrid end every message of random traffic on random networks at the same time") {
  // |t_fluid / t_simgrid - 1| <= 1e-9 for every message and collective; times of links to 1e-9 of the whole.
  // The program fluid_oracle does the same for as many networks as asked for.
  for (std::uint32_t seed = 1; seed <= 150; ++seed) {
    CAPTURE(seed);
    const NetworkTraffic traffic = random_traffic(seed);
    const TrafficComparison found = compare(carry_by_simgrid(traffic), carry_by_fluid(traffic));
    CHECK(found.difference == "");
    CHECK(found.dates > 0);
    CHECK(found.worst <= 1e-9);
    CHECK(found.worst_use <= 1e-9);
  }
}

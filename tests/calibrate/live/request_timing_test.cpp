// Requests at the live server, whose worker processes learn nothing.
#include "calibrate/live/request_timing.hpp"

#include <string>

#include <doctest/doctest.h>

using namespace paceline;
using namespace paceline::live;

TEST_CASE("a server that takes more is imitated: a request takes at least so much of its processor") {
  // What it takes by itself is part of these 2 ms. A request that took long in one part took little in the
  // other, and is left out of one mean only.
  const RequestTime time =
      time_requests(PACELINE_CALIBRATE, {.values = 1000, .requests = 60, .serving = Seconds{2e-3}});
  CHECK(time.bytes == Bytes{4000.0});
  CHECK((time.server + time.applying).value() >= 0.8 * 2e-3);
  CHECK(time.applying > time.server);
}

TEST_CASE("of synchronous workers each gradient is served, and each round lasts for all of them") {
  const RequestTime time = time_requests(
      PACELINE_CALIBRATE,
      {.values = 1000, .workers = 2, .policy = "bsp", .requests = 60, .serving = Seconds{2e-3}});
  CHECK((time.cycle.iteration + time.cycle.between).value() >= 2 * 2e-3);
}

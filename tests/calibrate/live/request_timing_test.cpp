// Requests at the live server, whose worker processes learn nothing.
#include "calibrate/live/request_timing.hpp"

#include <string>

#include <doctest/doctest.h>

using namespace paceline;
using namespace paceline::live;

namespace {

// From one gradient that arrives to the next, 60 times, the server is busy between the first and the last of
// them at least 59 times as long as asked, on the clock on the wall, too.
constexpr int requests = 60;
constexpr Seconds serving{2e-3};

}  // namespace

TEST_CASE("a server that takes more is imitated: each request takes at least so much of its time") {
  const RequestTime time =
      time_requests(PACELINE_CALIBRATE, {.values = 1000, .requests = requests, .serving = serving});
  CHECK(time.bytes == Bytes{4000.0});
  CHECK(time.cycle.iteration + time.cycle.between >= (requests - 1.0) / requests * serving);
  // Of 1000 values it takes a few microseconds otherwise.
  CHECK(time.applying > time.server);
}

TEST_CASE("of synchronous workers each gradient is served, and each round lasts for all of them") {
  // 30 rounds of two gradients, of which the first and the last may be cut off.
  const RequestTime time = time_requests(
      PACELINE_CALIBRATE,
      {.values = 1000, .workers = 2, .policy = "bsp", .requests = requests, .serving = serving});
  const double rounds = 0.5 * requests;
  CHECK(time.cycle.iteration + time.cycle.between >= (rounds - 2.0) / rounds * (2.0 * serving));
}

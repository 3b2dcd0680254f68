#include <doctest/doctest.h>

#include "calibrate/measure/machine.hpp"

namespace paceline::calibrate {
namespace {

const char* const stat =
    "cpu  1111 0 0 0 0 0 0 0 0 0\n"
    "cpu0 10 1 5 100 20 2 3 4 9 9\n"
    "cpu1 1000 0 0 0 0 0 0 0 0 0\n"
    "cpu10 7 0 0 1 0 0 0 0 0 0\n"
    "intr 12345\n";

}  // namespace

TEST_CASE("busy is everything but idle and waiting for disks, and guests are not counted twice") {
  // cpu0: busy = 10 + 1 + 5 + 2 + 3 + 4 = 25, total = busy + 100 + 20
  const auto one = parse_cpu_ticks(stat, {0});
  REQUIRE(one.has_value());
  CHECK(one->busy == 25.0);
  CHECK(one->total == 145.0);
  // … and cpu10 adds 7 busy of 8; cpu1, whose name begins alike, does not count.
  const auto two = parse_cpu_ticks(stat, {0, 10});
  REQUIRE(two.has_value());
  CHECK(two->busy == 32.0);
  CHECK(two->total == 153.0);
}

TEST_CASE("an unknown core or an unreadable line gives no answer instead of a wrong one") {
  CHECK_FALSE(parse_cpu_ticks(stat, {2}).has_value());
  CHECK_FALSE(parse_cpu_ticks("cpu0 10 1 five 100 20 2 3 4\n", {0}).has_value());
  CHECK_FALSE(parse_cpu_ticks("", {0}).has_value());
}

TEST_CASE("right after the start there is nothing to tell yet") {
  CHECK_FALSE(OtherLoad({0}).share().has_value());
}

}  // namespace paceline::calibrate

#include "sim/study/pool/memory.hpp"

#include <doctest/doctest.h>
#include <unistd.h>

using namespace paceline;

TEST_CASE("another simulation fits when a fifth stays free after all have grown to the largest seen") {
  // 0.8 · 1000 - (300 - 100) - (300 - 250) = 550 >= 300
  CHECK(another_fits(1000, {100, 250}, 300));
  // 0.8 · 650 - 200 - 50 = 270 < 300
  CHECK_FALSE(another_fits(650, {100, 250}, 300));
  // What already grew beyond the largest seen needs no more.
  CHECK(another_fits(375, {500}, 300));
  CHECK(another_fits(375, {}, 300));
  CHECK_FALSE(another_fits(374, {}, 300));
}

TEST_CASE("this process uses memory, and the machine has some left") {
  CHECK(memory_of_process_mib(getpid()) > 1.0);
  CHECK(available_memory_mib() > 1.0);
}

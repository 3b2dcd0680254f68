#include "calibrate/live/machine_load.hpp"

#include <algorithm>
#include <string>
#include <vector>

#include <doctest/doctest.h>

using namespace paceline;

namespace {

// A machine of which others take one after another of these shares, the last one from then on.
struct UsedMachine {
  std::vector<double> loads;
  std::size_t looks = 0;
  int rests = 0;

  double first_free() {
    return live::first_free(
        {[&] { return loads.at(std::min(looks++, loads.size() - 1)); }, [&] { ++rests; }});
  }
};

}  // namespace

TEST_CASE("a free machine is looked at once") {
  UsedMachine machine{{0.05, 0.9}};
  CHECK(machine.first_free() == 0.05);
  CHECK(machine.rests == 0);
}

TEST_CASE("a job waits for a program that is soon done") {
  // 14 and 11 % are more than a tenth, 2 % is not.
  UsedMachine machine{{0.14, 0.11, 0.02}};
  CHECK(machine.first_free() == 0.02);
  CHECK(machine.looks == 3);
  CHECK(machine.rests == 2);
}

TEST_CASE("a machine that others go on using is refused, with what they take") {
  UsedMachine machine{{0.9, 0.3}};
  try {
    machine.first_free();
    FAIL("it is not free");
  } catch (const live::LoadedMachine& error) {
    CHECK(std::string(error.what()).find("30 % of this machine's processor time") != std::string::npos);
  }
  CHECK(machine.looks == live::most_load_looks);
}

TEST_CASE("where any load is accepted, it is a share of all cores") {
  const double load = live::load_to_begin_with(true);
  CHECK(load >= 0.0);
  CHECK(load <= 1.0);
}

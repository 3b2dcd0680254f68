// How much busy processes of one machine slow each other down.
#include "sim/cost/machine_speed.hpp"

#include <doctest/doctest.h>

using paceline::MachineSpeed;

TEST_CASE("without measured speeds processes share the cores in equal parts") {
  // s(m) = min(1, 2 / m)
  const MachineSpeed machine(2, {});
  CHECK(machine.of(1, 1) == 1.0);
  CHECK(machine.of(2, 1) == 1.0);
  CHECK(machine.of(3, 1) == doctest::Approx(2.0 / 3.0));
  CHECK(machine.of(8, 1) == 0.25);
}

TEST_CASE("measured speeds hold, and more processes share what the last had together") {
  // s = 1, 0.72; three share 2 · 0.72: 0.48 each.
  const MachineSpeed machine(2, {1.0, 0.72});
  CHECK(machine.of(1, 1) == 1.0);
  CHECK(machine.of(2, 1) == 0.72);
  CHECK(machine.of(3, 1) == doctest::Approx(0.48));
  CHECK(machine.of(4, 1) == doctest::Approx(0.36));
}

TEST_CASE("where fewer processes were measured than there are cores, the last speed holds up to the cores") {
  // s = 1, 0.9 on 4 cores: 0.9 for 3 and 4 processes, 4 · 0.9 / 5 for 5.
  const MachineSpeed machine(4, {1.0, 0.9});
  CHECK(machine.of(4, 1) == 0.9);
  CHECK(machine.of(5, 1) == doctest::Approx(0.72));
}

TEST_CASE("a process of several cores was measured with all of them busy") {
  // Alone on two of two cores it is as fast as its profile says; beside one more: s(3) / s(2) = 2/3.
  const MachineSpeed machine(2, {1.0, 0.72});
  CHECK(machine.of(2, 2) == 1.0);
  CHECK(machine.of(3, 2) == doctest::Approx(2.0 / 3.0));
}

TEST_CASE("slow cores cost no processor time, taking turns does") {
  // Two of two: each has a core for itself, however slow; three get 2/3 of one.
  const MachineSpeed machine(2, {1.0, 0.72});
  CHECK(machine.processor_share(2) == 1.0);
  CHECK(machine.processor_share(3) == doctest::Approx(2.0 / 3.0));
}

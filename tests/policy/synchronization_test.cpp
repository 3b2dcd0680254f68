#include "sim/policy/synchronization/synchronization.hpp"

#include <doctest/doctest.h>

#include "sim/base/check.hpp"

using namespace paceline;

namespace {
const std::vector<WorkerId> three{WorkerId{0}, WorkerId{1}, WorkerId{2}};
}

TEST_CASE(
    "BSP waits for the last gradient of a round, then combines and releases everybody, round after round") {
  const auto bsp = make_synchronization("bsp");
  bsp->begin(three);
  for (int round = 0; round < 3; ++round) {
    CHECK(bsp->on_gradient(WorkerId{2}, Seconds{}).combine.empty());
    CHECK(bsp->on_gradient(WorkerId{0}, Seconds{}).release.empty());
    const SynchronizationDecision decision = bsp->on_gradient(WorkerId{1}, Seconds{});
    CHECK(decision.combine == three);
    CHECK(decision.release == three);
  }
}

TEST_CASE("BSP refuses two gradients of one worker in one round") {
  const auto bsp = make_synchronization("bsp");
  bsp->begin(three);
  static_cast<void>(bsp->on_gradient(WorkerId{1}, Seconds{}));
  CHECK_THROWS_AS(static_cast<void>(bsp->on_gradient(WorkerId{1}, Seconds{})), ProgrammingError);
}

TEST_CASE("as many backup workers as members, or more: every update waits for one gradient all the same") {
  for (const std::int64_t backups : {3, 5}) {
    const auto policy = make_synchronization({"backup-workers", {{"backups", backups}}});
    policy->begin(three);
    CHECK(policy->gradients_per_update() == 1);
    CHECK(policy->on_gradient(WorkerId{1}, Seconds{}).combine == std::vector{WorkerId{1}});
  }
}

TEST_CASE("ASP applies each gradient alone and releases only its worker") {
  const auto asp = make_synchronization("asp");
  asp->begin(three);
  const SynchronizationDecision decision = asp->on_gradient(WorkerId{1}, Seconds{});
  CHECK(decision.combine == std::vector{WorkerId{1}});
  CHECK(decision.release == std::vector{WorkerId{1}});
}

// The factor on the momentum after a switch, for 8 workers and stages of 100 updates.
#include <doctest/doctest.h>

#include "sim/learning/optimizer.hpp"

using namespace paceline;

namespace {

double factor(MomentumRule rule, std::uint64_t updates) {
  return momentum_factor({rule, Count{100.0, CountUnit::updates}},
                         {.workers = 8, .updates = updates, .samples = 0, .epochs = 0.0});
}

}  // namespace

TEST_CASE("rules without stages: 1, 0, 1/n, however much was done") {
  for (const std::uint64_t updates : {0U, 99U, 100U, 5000U}) {
    CHECK(factor(MomentumRule::keep, updates) == 1.0);
    CHECK(factor(MomentumRule::zero, updates) == 0.0);
    CHECK(factor(MomentumRule::scaled, updates) == 0.125);
  }
}

TEST_CASE("scaled-until: 1/n for one stage, then 1") {
  CHECK(factor(MomentumRule::scaled_until, 99) == 0.125);
  CHECK(factor(MomentumRule::scaled_until, 100) == 1.0);
}

TEST_CASE("staged: 2^k/n, all of it from the third doubling on") {
  // 1/8, 1/4, 1/2, 1, 1
  CHECK(factor(MomentumRule::staged, 0) == 0.125);
  CHECK(factor(MomentumRule::staged, 100) == 0.25);
  CHECK(factor(MomentumRule::staged, 299) == 0.5);
  CHECK(factor(MomentumRule::staged, 300) == 1.0);
  CHECK(factor(MomentumRule::staged, 1000) == 1.0);
}

TEST_CASE("additive: (1 + k)/n, all of it from the seventh step on") {
  CHECK(factor(MomentumRule::additive, 0) == 0.125);
  CHECK(factor(MomentumRule::additive, 350) == 0.5);
  CHECK(factor(MomentumRule::additive, 699) == 0.875);
  CHECK(factor(MomentumRule::additive, 700) == 1.0);
}

TEST_CASE("stages may be counted in samples or epochs") {
  const SinceSwitch since{.workers = 4, .updates = 0, .samples = 250, .epochs = 2.5};
  CHECK(momentum_factor({MomentumRule::staged, Count{200.0, CountUnit::samples}}, since) == 0.5);
  CHECK(momentum_factor({MomentumRule::additive, Count{1.0, CountUnit::epochs}}, since) == 0.75);
}

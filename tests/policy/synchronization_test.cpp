#include "sim/policy/synchronization/synchronization.hpp"

#include <numeric>

#include <doctest/doctest.h>

#include "sim/base/check.hpp"
#include "sim/policy/batching/weighting.hpp"

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

TEST_CASE("ASP applies each gradient alone and releases only its worker") {
  const auto asp = make_synchronization("asp");
  asp->begin(three);
  const SynchronizationDecision decision = asp->on_gradient(WorkerId{1}, Seconds{});
  CHECK(decision.combine == std::vector{WorkerId{1}});
  CHECK(decision.release == std::vector{WorkerId{1}});
}

TEST_CASE("weights follow the samples and sum to one") {
  // λ = b / Σb
  const std::vector<std::int64_t> batches{20, 40, 40};
  const auto weights = aggregation_weights(GradientWeighting::by_batch, batches);
  CHECK(weights == std::vector<double>{0.2, 0.4, 0.4});
  CHECK(std::accumulate(weights.begin(), weights.end(), 0.0) == doctest::Approx(1.0));
}

TEST_CASE("equal weights are 1/n whatever the batches") {
  const std::vector<std::int64_t> batches{20, 60};
  const auto weights = aggregation_weights(GradientWeighting::equal, batches);
  CHECK(weights == std::vector<double>{0.5, 0.5});
}

TEST_CASE("a gradient that is an update by itself counts fully, whatever its batch") {
  const std::vector<std::int64_t> batch{48};
  CHECK(aggregation_weights(GradientWeighting::by_batch, batch) == std::vector{1.0});
  CHECK(aggregation_weights(GradientWeighting::equal, batch) == std::vector{1.0});
}

#include "sim/training/evaluations.hpp"

#include <limits>

#include <doctest/doctest.h>

using namespace paceline;

namespace {

std::optional<Stop> result(Evaluations& evaluations, std::uint64_t updates, double accuracy,
                           double loss = 1.0) {
  static_cast<void>(evaluations.begin({Seconds{}, updates, 0}));
  return evaluations.on_result({updates, Evaluation{loss, accuracy}});
}

}  // namespace

TEST_CASE("the target is reached by the first of so many evaluations in a row") {
  // Two in a row at 0.9 or above: 10 is followed by a worse one, 30 and 40 are a row, reached by 30.
  Evaluations evaluations({10.0, EveryUnit::updates}, 0.9, 2);
  CHECK_FALSE(result(evaluations, 10, 0.95));
  CHECK_FALSE(result(evaluations, 20, 0.89));
  CHECK_FALSE(result(evaluations, 30, 0.9));
  const std::optional<Stop> end = result(evaluations, 40, 0.91);
  REQUIRE(end.has_value());
  CHECK(end->reason == EndReason::target_reached);
  CHECK(end->reached_after_updates == 30);
}

TEST_CASE("a loss that is not finite ends the job as diverged") {
  Evaluations evaluations({10.0, EveryUnit::updates}, std::nullopt, 1);
  const std::optional<Stop> end = result(evaluations, 10, 0.1, std::numeric_limits<double>::infinity());
  REQUIRE(end.has_value());
  CHECK(end->reason == EndReason::diverged);
}

TEST_CASE(
    "an evaluation is under way until its result is known, and the latest version counts as evaluated") {
  Evaluations evaluations({10.0, EveryUnit::updates}, std::nullopt, 1);
  const Evaluate asked = evaluations.begin({Seconds{3.0}, 10, 640});
  CHECK(asked.updates == 10);
  CHECK(asked.samples == 640);
  CHECK_FALSE(evaluations.none_under_way());
  CHECK(evaluations.has_evaluated(10));
  CHECK_FALSE(evaluations.has_evaluated(11));
  CHECK_FALSE(evaluations.on_result({10, std::nullopt}));
  CHECK(evaluations.none_under_way());
}

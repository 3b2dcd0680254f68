#include "plots/data/curve_band.hpp"

#include <doctest/doctest.h>

namespace paceline::plots {
namespace {

LearningCurve curve(std::uint64_t replication, std::vector<Evaluation> evaluations) {
  return {replication, std::move(evaluations)};
}

TEST_CASE("between evaluations the last one counts, never the next") {
  const LearningCurve steps = curve(0, {{0, 0.1}, {4, 0.3}, {8, 0.5}});
  CHECK(accuracy_at(steps, 3.999) == 0.1);
  CHECK(accuracy_at(steps, 4.0) == 0.3);
  CHECK(accuracy_at(steps, 7.9) == 0.3);
  CHECK(accuracy_at(steps, 100.0) == 0.5);
}

TEST_CASE("before the first evaluation the curve has its first value") {
  CHECK(accuracy_at(curve(0, {{2, 0.2}, {3, 0.4}}), 0.0) == 0.2);
}

TEST_CASE("of two evaluations at one time the later row counts") {
  CHECK(accuracy_at(curve(0, {{0, 0.1}, {2, 0.2}, {2, 0.9}}), 2.0) == 0.9);
}

TEST_CASE("a band holds quantiles over replications on one grid, and counts who still trains") {
  const std::vector<LearningCurve> curves{curve(0, {{0, 0.1}, {4, 0.3}}),
                                          curve(1, {{0, 0.1}, {6, 0.5}, {8, 0.7}}),
                                          curve(2, {{0, 0.1}, {8, 0.4}})};
  const std::vector<BandPoint> band = accuracy_band(curves, 4);
  REQUIRE(band.size() == 5);
  // The grid: 0, 2, 4, 6, 8 s, to the end of the longest curve.
  CHECK(band[1].time_s == 2.0);
  CHECK(band[4].time_s == 8.0);
  // At 6 s: 0.3 (stopped at 4 s and kept), 0.5, 0.1; sorted 0.1, 0.3, 0.5.
  CHECK(band[3].median == doctest::Approx(0.3));
  CHECK(band[3].low == doctest::Approx(0.1 + 0.2 * 0.2));
  CHECK(band[3].high == doctest::Approx(0.3 + 0.8 * 0.2));
  CHECK(band[2].running == 3);
  CHECK(band[3].running == 2);
}

TEST_CASE("a band of curves that hold one instant only is that instant") {
  const std::vector<BandPoint> band = accuracy_band({curve(0, {{0, 0.1}})}, 2);
  CHECK(band.back().time_s == 0.0);
  CHECK(band.back().median == 0.1);
}

}  // namespace
}  // namespace paceline::plots

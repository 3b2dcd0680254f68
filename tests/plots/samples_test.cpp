// Bands of learning curves and densities of samples.
#include "plots/data/samples.hpp"

#include <cmath>
#include <numbers>

#include <doctest/doctest.h>

using namespace paceline::plots;

TEST_CASE("between evaluations the last one counts, never the next") {
  const LearningCurve steps = LearningCurve{{0, 0.1}, {4, 0.3}, {8, 0.5}};
  CHECK(accuracy_at(steps, 3.999) == 0.1);
  CHECK(accuracy_at(steps, 4.0) == 0.3);
  CHECK(accuracy_at(steps, 7.9) == 0.3);
  CHECK(accuracy_at(steps, 100.0) == 0.5);
}

TEST_CASE("before the first evaluation the curve has its first value") {
  CHECK(accuracy_at(LearningCurve{{2, 0.2}, {3, 0.4}}, 0.0) == 0.2);
}

TEST_CASE("of two evaluations at one time the later row counts") {
  CHECK(accuracy_at(LearningCurve{{0, 0.1}, {2, 0.2}, {2, 0.9}}, 2.0) == 0.9);
}

TEST_CASE("a band holds quantiles over replications on one grid, and counts who still trains") {
  const std::vector<LearningCurve> curves{LearningCurve{{0, 0.1}, {4, 0.3}},
                                          LearningCurve{{0, 0.1}, {6, 0.5}, {8, 0.7}},
                                          LearningCurve{{0, 0.1}, {8, 0.4}}};
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
  const std::vector<BandPoint> band = accuracy_band({LearningCurve{{0, 0.1}}}, 2);
  CHECK(band.back().time_s == 0.0);
  CHECK(band.back().median == 0.1);
}

TEST_CASE("the density of one value is the kernel itself") {
  // Height 1/(h·√(2π)) at the value, e^(-1/2) of it one bandwidth away.
  const auto points = density_of({8.0}, 0.3);
  for (const DensityPoint& point : points) {
    const double z = (point.at - 8.0) / 0.3;
    if (std::abs(z) > 1.5) continue;  // binning moves a value by up to h/8: 15 % of the height there
    CHECK(point.density ==
          doctest::Approx(std::exp(-z * z / 2.0) / (0.3 * std::sqrt(2.0 * std::numbers::pi))).epsilon(0.15));
  }
}

TEST_CASE("a density integrates to one, however many values there are") {
  std::vector<double> values;
  for (int i = 0; i < 1000; ++i) values.push_back(1.0 + 0.001 * i + (i % 3 == 0 ? 5.0 : 0.0));
  const auto points = density_of(values, 0.1);
  double area = 0.0;
  for (const DensityPoint& point : points) area += point.density * (points[1].at - points[0].at);
  CHECK(area == doctest::Approx(1.0).epsilon(0.005));
}

#include "plots/data/density.hpp"

#include <cmath>
#include <numbers>

#include <doctest/doctest.h>

using namespace paceline::plots;

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

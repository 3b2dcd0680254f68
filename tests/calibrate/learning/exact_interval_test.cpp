// The interval of a counted share, against its closed forms.
#include "calibrate/learning/exact_interval.hpp"

#include <cmath>

#include <doctest/doctest.h>

using namespace paceline;

TEST_CASE("the exact interval of a share has the closed forms of none, all and one of two") {
  // All of 5: from 0.05^(1/5) to 1. None of 5: from 0 to 1 - 0.05^(1/5). One of 2: 1 - (1 - p)^2 = 0.05.
  CHECK(exact_interval(5, 5).low == doctest::Approx(std::pow(0.05, 1.0 / 5.0)));
  CHECK(exact_interval(5, 5).high == 1.0);
  CHECK(exact_interval(0, 5).low == 0.0);
  CHECK(exact_interval(0, 5).high == doctest::Approx(1.0 - std::pow(0.05, 1.0 / 5.0)));
  CHECK(exact_interval(1, 2).low == doctest::Approx(1.0 - std::sqrt(0.95)));
}

#include "sim/base/order_statistics.hpp"

#include <cmath>
#include <limits>

#include <doctest/doctest.h>

#include "sim/base/check.hpp"

using namespace paceline;

namespace {

constexpr double never = std::numeric_limits<double>::infinity();

}  // namespace

TEST_CASE("the median is the middle value, or the mean of the middle two") {
  CHECK(median({6}) == 6.0);
  CHECK(median({9, 3, 1, 7, 5}) == 5.0);
  // (2 + 4) / 2
  CHECK(median({4, 1, 2, 8}) == 3.0);
  CHECK_THROWS_AS(static_cast<void>(median({})), ProgrammingError);
}

TEST_CASE("a quantile is linear between the sorted values around position p(n-1)") {
  // n = 5: p = 0.1 lies at position 0.4, so x_0 + 0.4 (x_1 - x_0) = 1 + 0.4 · 2 = 1.8.
  CHECK(quantile({9, 3, 1, 7, 5}, 0.1) == doctest::Approx(1.8));
  CHECK(quantile({9, 3, 1, 7, 5}, 0.5) == doctest::Approx(5.0));
  CHECK(quantile({9, 3, 1, 7, 5}, 0.9) == doctest::Approx(8.2));
  CHECK(quantile({4, 1, 2, 8}, 0.5) == doctest::Approx(3.0));
  CHECK(quantile({4, 1, 2, 3}, 0.0) == 1.0);
  CHECK(quantile({4, 1, 2, 3}, 1.0) == 4.0);
  CHECK(quantile({6}, 0.1) == 6.0);
}

TEST_CASE("runs that never get there count as slower than any, and never turn a result into no number") {
  CHECK(median({1, 2, never}) == 2.0);
  CHECK(std::isinf(median({1, never, never})));
  // The mean of a number and never is never, and so is that of never and never.
  CHECK(std::isinf(median({1, never})));
  CHECK(std::isinf(median({never, never})));
  // Position 0.1 · 2 = 0.2 lies between 1 and 2, position 0.9 · 2 = 1.8 between 2 and never.
  CHECK(quantile({1, 2, never}, 0.1) == doctest::Approx(1.2));
  CHECK(std::isinf(quantile({1, 2, never}, 0.9)));
  CHECK(std::isinf(quantile({never, never}, 0.5)));
  // Exactly at a value, the next one does not matter.
  CHECK(quantile({1, 2, never}, 0.5) == 2.0);
}

TEST_CASE("a small spread far from 0 is not lost in the squares of the values") {
  // 100,000,000 + {0.25, 0.5, 0.75}, all of them binary numbers: sd 0.25. Σ v² - n·mean² would be 2e16 -
  // 2e16.
  const Spread spread = spread_of({1e8 + 0.25, 1e8 + 0.5, 1e8 + 0.75});
  CHECK(spread.mean == 1e8 + 0.5);
  CHECK(spread.deviation == doctest::Approx(0.25));
  const Spread uneven = spread_of({1e8 + 0.25, 1e8 + 0.25, 1e8 + 1.0});
  CHECK(uneven.deviation == doctest::Approx(0.75 / std::sqrt(3.0)).epsilon(1e-6));
  CHECK(spread_of({7.0}).deviation == 0.0);
}

TEST_CASE("a close comparison is relative to what is expected, however small that is") {
  CHECK(1e-3 == doctest::Approx(1.001e-3).epsilon(0.002));
  CHECK_FALSE(1e-3 == doctest::Approx(1.1e-3).epsilon(0.002));
}

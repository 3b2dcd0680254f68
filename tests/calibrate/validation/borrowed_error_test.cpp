// The error that a fit of few policies borrows: variance of random effects in closed form, and how campaigns
// weigh.
#include "calibrate/validation/borrowed_error.hpp"

#include <cmath>
#include <vector>

#include <doctest/doctest.h>

using namespace paceline;

namespace {

double beyond(const std::vector<WeightedMiss>& misses) {
  return error_beyond(misses);
}

}  // namespace

TEST_CASE("borrowed error: equally well explained misses leave their weighted mean square, less that") {
  // (3 · 0.04 + 1 · 0.16) / 4 - 0.01 = 0.06.
  CHECK(beyond({{{0.2, 0.01}, 3.0}, {{-0.4, 0.01}, 1.0}}) == doctest::Approx(std::sqrt(0.06)));
  CHECK(beyond({{{0.05, 0.01}}, {{-0.08, 0.01}}}) == 0.0);
  CHECK(beyond({}) == 0.0);
}

TEST_CASE("borrowed error: it maximizes the likelihood, and what members explain badly says little") {
  // The likelihood falls on both sides of the error found.
  const std::vector<WeightedMiss> misses{{{0.5, 0.01}}, {{-0.3, 0.04}, 2.0}, {{0.1, 0.002}}, {{0.7, 0.09}}};
  const auto likelihood = [&](double error) {
    double sum = 0.0;
    for (const WeightedMiss& one : misses) {
      const double variance = error * error + one.miss.explained;
      sum -= one.weight * (std::log(variance) + one.miss.difference * one.miss.difference / variance) / 2.0;
    }
    return sum;
  };
  const double error = beyond(misses);
  CHECK(likelihood(error) > likelihood(0.98 * error));
  CHECK(likelihood(error) > likelihood(1.02 * error));
  // A miss of 20 by members that differ by 11 among each other changes less than a hundredth of it.
  std::vector<WeightedMiss> with_wild = misses;
  with_wild.push_back({{-20.0, 121.0}});
  CHECK(beyond(with_wild) == doctest::Approx(error).epsilon(0.01));
}

TEST_CASE("borrowed error: without fits, or without a deviation between runs, it is unknown") {
  CHECK_FALSE(borrowed_error({}, 0.01).has_value());
}

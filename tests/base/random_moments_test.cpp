// Every distribution against its closed-form mean, variance and skewness.
//
// For X with mean m, the sample means of (X-m), (X-m)^2 and (X-m)^3 estimate 0, variance and
// skewness·variance^1.5. Each estimate must lie within 5 of its own standard errors (the chance of a false
// alarm is 1 in 1.7 million each, and the seed is fixed).
#include <cmath>
#include <functional>

#include <doctest/doctest.h>

#include "sim/base/random.hpp"

namespace paceline {
namespace {

constexpr int draws = 200'000;
constexpr double allowed_standard_errors = 5.0;

struct Moments {
  double mean;
  double variance;
  double skewness;
};

// How many standard errors the sample mean of `power`-th central powers lies from `expected`.
double standard_errors_off(const std::vector<double>& sample, double mean, int power, double expected) {
  double sum = 0.0;
  double sum_of_squares = 0.0;
  for (const double x : sample) {
    const double term = std::pow(x - mean, power) - expected;
    sum += term;
    sum_of_squares += term * term;
  }
  return std::abs(sum) / std::sqrt(sum_of_squares);  // (sum/n) / (sd/√n)
}

void check_moments(const std::function<double(RandomStream&)>& draw, const Moments& expected) {
  RandomStream stream({2024, 7}, Purpose::test, 3);
  std::vector<double> sample;
  for (int i = 0; i < draws; ++i) sample.push_back(draw(stream));
  CHECK(standard_errors_off(sample, expected.mean, 1, 0.0) < allowed_standard_errors);
  CHECK(standard_errors_off(sample, expected.mean, 2, expected.variance) < allowed_standard_errors);
  const double third = expected.skewness * std::pow(expected.variance, 1.5);
  CHECK(standard_errors_off(sample, expected.mean, 3, third) < allowed_standard_errors);
}

TEST_CASE("uniform on (0, 1): mean 1/2, variance 1/12, skewness 0") {
  check_moments([](RandomStream& s) { return s.uniform(); }, {0.5, 1.0 / 12.0, 0.0});
}

TEST_CASE("integers below b: mean (b-1)/2, variance (b^2-1)/12, skewness 0") {
  for (const double b : {3.0, 6.0, 1000.0})
    check_moments(
        [b](RandomStream& s) { return static_cast<double>(s.below(static_cast<std::uint64_t>(b))); },
        {(b - 1) / 2, (b * b - 1) / 12, 0.0});
}

TEST_CASE("normal: the given mean and standard deviation, skewness 0") {
  check_moments([](RandomStream& s) { return s.normal(0.0, 1.0); }, {0.0, 1.0, 0.0});
  check_moments([](RandomStream& s) { return s.normal(-3.0, 0.25); }, {-3.0, 0.0625, 0.0});
}

// cv = sd/mean of the result; skewness of a log-normal = 3·cv + cv^3.
TEST_CASE("log-normal: the given mean m, variance (m·cv)^2, skewness 3·cv + cv^3") {
  for (const double cv : {0.01, 0.1, 0.4})
    check_moments([cv](RandomStream& s) { return s.log_normal(2.5, cv); },
                  {2.5, 2.5 * 2.5 * cv * cv, 3 * cv + cv * cv * cv});
}

TEST_CASE("log-normal without variation is its mean, exactly") {
  RandomStream stream({1, 0}, Purpose::test);
  for (int i = 0; i < 100; ++i) CHECK(stream.log_normal(1.0, 0.0) == 1.0);
}

// x = F^-1(u) with one u per draw: with equal keys, a larger u means a larger value of every distribution.
TEST_CASE("streams of equal keys share the rank of the draw across distributions") {
  const auto draw = [](std::uint64_t index, const auto& distribution) {
    RandomStream stream({5, 0}, Purpose::test, 0, index);
    return distribution(stream);
  };
  const std::vector<std::function<double(RandomStream&)>> distributions{
      [](RandomStream& s) { return s.normal(1.0, 2.0); },
      [](RandomStream& s) { return s.log_normal(1.0, 0.3); }};
  const auto uniform = [](RandomStream& s) { return s.uniform(); };
  for (std::uint64_t i = 1; i < 200; ++i)
    for (const auto& distribution : distributions)
      CHECK((draw(i, uniform) < draw(i - 1, uniform)) == (draw(i, distribution) < draw(i - 1, distribution)));
}

}  // namespace
}  // namespace paceline

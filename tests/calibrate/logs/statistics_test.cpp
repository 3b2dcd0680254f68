#include "calibrate/logs/statistics.hpp"

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <vector>

#include <doctest/doctest.h>

#include "sim/base/random.hpp"

namespace paceline::calibrate {
namespace {

constexpr std::size_t values_drawn = 20'000;

std::vector<double> log_normal_values(std::uint32_t stream, double mean, double variation) {
  RandomStream random({1, 0}, Purpose::test, stream);
  std::vector<double> values(values_drawn);
  for (double& value : values) value = random.log_normal(mean, variation);
  return values;
}

// Of two series at the same place, over their common mean.
double mean_of_the_later(const std::vector<double>& a, const std::vector<double>& b) {
  double later = 0.0;
  double all = 0.0;
  for (std::size_t k = 0; k < a.size(); ++k) {
    later += std::max(a[k], b[k]);
    all += 0.5 * (a[k] + b[k]);
  }
  return later / all;
}

}  // namespace

TEST_CASE("of log-normal values their own variation is found, though one series has twice the mean") {
  for (const double variation : {0.05, 0.4, 1.0}) {
    const std::vector<double> first = log_normal_values(1, 1.0, variation);
    const std::vector<double> second = log_normal_values(2, 2.0, variation);
    CHECK(variation_in_pairs({first, second}) == doctest::Approx(variation).epsilon(0.03));
    CHECK(variation_in_pairs({first}) == doctest::Approx(variation).epsilon(0.03));
  }
}

TEST_CASE("log-normal values of the variation found are as late in pairs as those measured with stalls") {
  // One value in fifty is a stall, twelve times as long: the mean is 1.22, sd / mean 1.26, and the later one
  // of two (2 · 12 + 48) / 50 / 1.22 = 1.18 means. Of log-normal values with that sd it would be 1.5.
  std::vector<double> first = log_normal_values(1, 1.0, 0.05);
  std::vector<double> second = log_normal_values(2, 1.0, 0.05);
  for (std::size_t k = 0; k < values_drawn; k += 50) {
    first[k] *= 12.0;
    second[k + 25] *= 12.0;
  }
  const double variation = variation_in_pairs({first, second});
  const double later =
      mean_of_the_later(log_normal_values(3, 1.0, variation), log_normal_values(4, 1.0, variation));
  CHECK(later == doctest::Approx(mean_of_the_later(first, second)).epsilon(0.01));
  CHECK(variation < 0.5);
}

TEST_CASE("values that are late together do not vary in pairs, nor do fewer than two") {
  const std::vector<double> values = log_normal_values(1, 1.0, 0.5);
  CHECK(variation_in_pairs({values, values}) == doctest::Approx(0.0));
  CHECK(variation_in_pairs({{3.0}}) == 0.0);
  CHECK(variation_in_pairs({}) == 0.0);
}

TEST_CASE("a stall among few values, and a series without any, leave a variation that is finite") {
  // Neighbours of a stall of s are (s - 1) / ((s + 1) / 2) of their mean apart: below 2 for any.
  CHECK(std::isfinite(variation_in_pairs({{1.0, 1e6, 1.0}})));
  CHECK(variation_in_pairs({{1.0, 2.0, 4.0}, {}}) == variation_in_pairs({{1.0, 2.0, 4.0}}));
}

}  // namespace paceline::calibrate

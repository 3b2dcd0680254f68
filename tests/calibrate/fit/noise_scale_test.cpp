#include "calibrate/fit/noise_scale.hpp"

#include <cmath>
#include <vector>

#include <doctest/doctest.h>

#include "sim/base/random.hpp"

namespace paceline::calibrate {
namespace {

// Gradients of `size` numbers, each normal with mean `mean` and variance `variance`/batch: |G|² = size ·
// mean², tr Σ = size · variance.
std::vector<kernels::GradientSquares> synthetic(double mean, double variance, int repeats,
                                                std::uint32_t seed) {
  constexpr int size = 200;
  constexpr int parts = 8;
  constexpr double small_batch = 32.0;
  std::vector<kernels::GradientSquares> squares;
  RandomStream stream(Seed{seed, 0}, Purpose::test);
  for (int r = 0; r < repeats; ++r) {
    kernels::GradientSquares one;
    std::vector<double> average(size);
    for (int part = 0; part < parts; ++part)
      for (double& value : average) {
        const double g = stream.normal(mean, std::sqrt(variance / small_batch));
        one.small += g * g / parts;
        value += g / parts;
      }
    for (const double value : average) one.large += value * value;
    squares.push_back(one);
  }
  return squares;
}

}  // namespace

TEST_CASE("the noise scale is tr Σ / |G|², inside its interval in most experiments") {
  // 25 / 0.5² = 100 samples
  int inside = 0;
  constexpr int experiments = 100;
  for (std::uint32_t seed = 0; seed < experiments; ++seed) {
    const NoiseScale scale = noise_scale(synthetic(0.5, 25.0, 24, seed), 32.0, 256.0);
    CHECK(scale.samples == doctest::Approx(100.0).epsilon(0.2));
    inside += scale.low <= 100.0 && 100.0 <= scale.high ? 1 : 0;
  }
  // A bootstrap of 24 covers somewhat less than its nominal 95 %; binomial sd 3 %.
  CHECK(inside >= 84);
}

TEST_CASE("without a gradient there is only noise: the scale is unbounded or very large") {
  const NoiseScale scale = noise_scale(synthetic(0.0, 25.0, 24, 1), 32.0, 256.0);
  CHECK(scale.high > 10000.0);
}

TEST_CASE("without noise the scale is 0") {
  CHECK(noise_scale(synthetic(0.5, 0.0, 4, 1), 32.0, 256.0).samples == doctest::Approx(0.0).epsilon(1e-9));
}

}  // namespace paceline::calibrate

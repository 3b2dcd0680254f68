#include "calibrate/jitter.hpp"

#include <cmath>

#include <doctest/doctest.h>

#include "tests/calibrate/synthetic_samples.hpp"

namespace paceline::calibrate {

TEST_CASE("the iteration cv is recovered from log-normal noise, whatever the run factors") {
  const SyntheticMachine machine{.iteration_cv = 0.08, .run_cv = 0.2, .processes = 5, .iterations = 200};
  // 50 groups of 200: the standard error of a median absolute deviation is about 1.17 · cv / √n = 0.9 %.
  CHECK(fit_jitter(synthetic_samples(machine)).iteration_cv == doctest::Approx(0.08).epsilon(0.04));
}

TEST_CASE("a tenth of the iterations ten times slower hardly changes the iteration cv") {
  std::vector<Sample> samples = synthetic_samples({.iteration_cv = 0.05, .iterations = 200});
  for (Sample& sample : samples)
    for (std::size_t i = 0; i < sample.seconds.size(); i += 10) sample.seconds[i] *= 10.0;
  // The median of |z| becomes a quantile near 0.5/0.9: Φ⁻¹ gives 0.77 instead of 0.67 sd, 14 % more. A plain
  // standard deviation would be 0.7.
  const double cv = fit_jitter(samples).iteration_cv;
  CHECK(cv > 0.05);
  CHECK(cv < 0.06);
}

TEST_CASE("the run cv is recovered from many processes") {
  const SyntheticMachine machine{.iteration_cv = 0.02, .run_cv = 0.06, .processes = 400, .iterations = 11};
  const JitterFit fit = fit_jitter(synthetic_samples(machine));
  CHECK(fit.processes == 400);
  // 2 · 400 run factors: the standard error of a standard deviation is 1 / √(2 · 800) = 2.5 %; four of them.
  CHECK(fit.run_cv.value() == doctest::Approx(0.06).epsilon(0.1));
}

TEST_CASE("noise within processes is not mistaken for differences between them") {
  // The process means of 3 batches with medians of 5 iterations of cv 0.3 vary by about 0.3 · 1.2 / √15 = 9 %
  // without any run effect. The analysis of variance subtracts that: on average over 200 calibrations nothing is left.
  double mean_variance = 0.0;
  int above_zero = 0;
  constexpr int calibrations = 200;
  for (std::uint32_t seed = 0; seed < calibrations; ++seed) {
    const SyntheticMachine machine{
        .iteration_cv = 0.3, .processes = 4, .iterations = 5, .batches = {8, 16, 32}};
    const double cv = fit_jitter(synthetic_samples(machine, seed)).run_cv.value();
    mean_variance += cv * cv / calibrations;
    above_zero += cv > 0.0 ? 1 : 0;
  }
  CHECK(std::sqrt(mean_variance) < 0.06);  // the positive half of the estimates; unsubtracted 0.09
  CHECK(above_zero > calibrations / 4);    // an unbiased variance is cut at 0 about half of the time
  CHECK(above_zero < calibrations * 3 / 4);
}

TEST_CASE("fewer than 3 processes cannot tell runs apart") {
  CHECK_FALSE(fit_jitter(synthetic_samples({.iteration_cv = 0.1, .processes = 2})).run_cv.has_value());
  CHECK(fit_jitter(synthetic_samples({.iteration_cv = 0.1, .processes = 3})).run_cv.has_value());
}

}  // namespace paceline::calibrate

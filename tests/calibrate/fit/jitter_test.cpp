#include "calibrate/fit/jitter.hpp"

#include <cmath>

#include <doctest/doctest.h>

#include "tests/calibrate/fit/synthetic_samples.hpp"

namespace paceline::calibrate {

TEST_CASE("the iteration cv is recovered from log-normal noise, whatever the run factors") {
  const SyntheticMachine machine{
      .iteration_cv = 0.08, .run_cv = 0.2, .process_cv = 0.1, .processes = 5, .iterations = 200};
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

TEST_CASE("run and process parts are recovered apart from many passes over two core counts") {
  const SyntheticMachine machine{
      .iteration_cv = 0.02, .run_cv = 0.06, .process_cv = 0.04, .processes = 400, .iterations = 11};
  const JitterFit fit = fit_jitter(synthetic_samples(machine));
  CHECK(fit.processes == 400);
  // 400 run factors, each seen through the mean of two process factors of 4 %: the sd of the pass means is
  // √(0.06² + 0.04²/2) = 0.066, of which the standard error is 1/√(2·400) = 3.5 % = 0.0023; on 0.06, 4.3 %.
  // Three of them.
  CHECK(fit.run_cv.value() == doctest::Approx(0.06).epsilon(0.13));
  // 400 differences of two process factors: again 3.5 %; three of them.
  CHECK(fit.process_cv.value() == doctest::Approx(0.04).epsilon(0.11));
  CHECK(fit.run_cv_upper.value() > fit.run_cv.value());
}

TEST_CASE("with one core count the run part stands for run and process together") {
  const SyntheticMachine machine{.iteration_cv = 0.02,
                                 .run_cv = 0.06,
                                 .process_cv = 0.08,
                                 .processes = 400,
                                 .iterations = 11,
                                 .cores = {1}};
  const JitterFit fit = fit_jitter(synthetic_samples(machine));
  CHECK(fit.run_cv.value() == doctest::Approx(0.1).epsilon(0.11));  // √(0.06² + 0.08²)
  CHECK_FALSE(fit.process_cv.has_value());
}

TEST_CASE("the 95 % limit of the run part is above the truth in 95 of 100 calibrations") {
  int covered = 0;
  constexpr int calibrations = 400;
  for (std::uint32_t seed = 0; seed < calibrations; ++seed) {
    const SyntheticMachine machine{.iteration_cv = 0.05,
                                   .run_cv = 0.01,
                                   .process_cv = 0.01,
                                   .processes = 4,
                                   .iterations = 9,
                                   .batches = {8, 16, 32}};
    const JitterFit fit = fit_jitter(synthetic_samples(machine, seed));
    covered += fit.run_cv_upper.value_or(0.0) >= 0.01 ? 1 : 0;
  }
  // Binomial sd: √(0.95 · 0.05 / 400) = 1.1 %; three of them, and as much for medians not being quite normal.
  CHECK(covered > calibrations * 0.90);
  CHECK(covered < calibrations * 0.99);
}

TEST_CASE("two speeds of the clock are kept as an empirical factor, log-normal noise is not") {
  const SyntheticMachine machine{.iteration_cv = 0.03, .processes = 4, .iterations = 100};
  CHECK(fit_jitter(synthetic_samples(machine)).iteration_quantiles.empty());
  std::vector<Sample> samples = synthetic_samples(machine);
  for (Sample& sample : samples)
    for (std::size_t i = 0; i < sample.seconds.size(); i += 4) sample.seconds[i] *= 1.5;
  const JitterFit fit = fit_jitter(samples);
  REQUIRE(fit.iteration_quantiles.size() >= 2);
  // A quarter at 1.5: mean 1.125; factors 0.889 and 1.333; cv = √(¾·0.111² + ¼·0.333²) = 0.192, and 3 % of
  // noise.
  CHECK(fit.iteration_cv == doctest::Approx(0.195).epsilon(0.05));
}

TEST_CASE("noise within processes is not mistaken for differences between them") {
  // The process means of 3 batches with medians of 5 iterations of cv 0.3 vary by about 0.3 · 1.2 / √15 = 9 %
  // without any run effect. The analysis of variance subtracts that: on average over 200 calibrations nothing
  // is left.
  double mean_variance = 0.0;
  int above_zero = 0;
  constexpr int calibrations = 200;
  for (std::uint32_t seed = 0; seed < calibrations; ++seed) {
    const SyntheticMachine machine{
        .iteration_cv = 0.3, .processes = 4, .iterations = 5, .batches = {8, 16, 32}, .cores = {1}};
    const double cv = fit_jitter(synthetic_samples(machine, seed)).run_cv.value_or(0.0);
    mean_variance += cv * cv / calibrations;
    above_zero += cv > 0.0 ? 1 : 0;
  }
  CHECK(std::sqrt(mean_variance) < 0.06);  // the positive half of the estimates; unsubtracted 0.09
  CHECK(above_zero > calibrations / 4);    // an unbiased variance is cut at 0 about half of the time
  CHECK(above_zero < calibrations * 3 / 4);
}

TEST_CASE("the parts are those of the nested analysis of variance, by hand") {
  // Three passes, two core counts, two batches, two equal iterations each. Logarithms R + P + d whose sums
  // over passes, over the counts of a pass and over the batches of a process are 0, so that each part is
  // seen alone: MS_run = 2·2 Σ R² / 2, MS_process = 2 Σ P² / (2·1), MS_rest = Σ d² / (2·2·1).
  const std::vector<double> run = {-0.1, 0.0, 0.1};
  const std::vector<double> process = {0.03, -0.02, -0.01};  // the other count: negative
  const std::vector<std::vector<double>> rest = {{0.004, -0.001, -0.003}, {0.002, 0.002, -0.004}};
  std::vector<Sample> samples;
  for (int pass = 0; pass < 3; ++pass)
    for (const int cores : {1, 2})
      for (const std::int64_t batch : {8, 16}) {
        const auto p = static_cast<std::size_t>(pass);
        const double log = run[p] + (cores == 1 ? 1.0 : -1.0) * process[p] +
                           (batch == 8 ? 1.0 : -1.0) * rest[cores == 1 ? 0 : 1][p];
        const double seconds = 0.01 * static_cast<double>(batch) / cores * std::exp(log);
        samples.push_back({cores, batch, pass, Operation::forward_backward, {seconds, seconds}, {}});
      }
  const double ms_run = 4.0 * 0.02 / 2.0;
  const double ms_process = 2.0 * 2.0 * (0.0009 + 0.0004 + 0.0001) / 2.0;
  const double ms_rest = 2.0 * (26e-6 + 24e-6) / 4.0;
  const JitterFit fit = fit_jitter(samples);
  CHECK(fit.iteration_cv == 0.0);
  CHECK(*fit.run_cv == doctest::Approx(std::sqrt(std::expm1((ms_run - ms_process) / 4.0))));
  CHECK(*fit.process_cv == doctest::Approx(std::sqrt(std::expm1((ms_process - ms_rest) / 2.0))));
  // Of 2 and 2 degrees of freedom 5 % lie below 1/19: F/(1 + F) = 0.05.
  CHECK(*fit.run_cv_upper == doctest::Approx(std::sqrt(std::expm1((19.0 * ms_run - ms_process) / 4.0))));
}

TEST_CASE("an empirical factor has mean 1 between its quantiles, and their coefficient of variation") {
  // 70 of 100 iterations take 1 s, the others 3 s, on average 1.6 s: factors 0.625 and 1.875. Of 16 equal
  // bins 11 lie at the lower, 4 at the higher, one goes from one to the other.
  std::vector<Sample> samples;
  for (int pass = 0; pass < 3; ++pass) {
    Sample sample{1, 8, pass, Operation::forward_backward, {}, {}};
    for (int i = 0; i < 100; ++i) sample.seconds.push_back(i < 70 ? 1.0 : 3.0);
    samples.push_back(sample);
  }
  const double low = 0.625;
  const double high = 1.875;
  const double mean = (11.0 * low + (low + high) / 2.0 + 4.0 * high) / 16.0;
  const double square =
      (11.0 * low * low + (low * low + low * high + high * high) / 3.0 + 4.0 * high * high) / 16.0;
  const JitterFit fit = fit_jitter(samples);
  REQUIRE(fit.iteration_quantiles.size() == 17);
  CHECK(fit.iteration_quantiles[11] == doctest::Approx(low / mean));
  CHECK(fit.iteration_quantiles[12] == doctest::Approx(high / mean));
  CHECK(fit.iteration_cv == doctest::Approx(std::sqrt(square / (mean * mean) - 1.0)));
}

TEST_CASE("fewer than 3 processes cannot tell runs apart") {
  CHECK_FALSE(fit_jitter(synthetic_samples({.iteration_cv = 0.1, .processes = 2})).run_cv.has_value());
  CHECK(fit_jitter(synthetic_samples({.iteration_cv = 0.1, .processes = 3})).run_cv_upper.has_value());
}

}  // namespace paceline::calibrate

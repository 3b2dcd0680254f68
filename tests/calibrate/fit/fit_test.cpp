#include "calibrate/fit/fit.hpp"

#include <cmath>

#include <doctest/doctest.h>

#include "sim/base/check.hpp"
#include "tests/calibrate/fit/synthetic_samples.hpp"
#include "tests/support/relative_difference.hpp"

namespace paceline::calibrate {

TEST_CASE("points on a line give the line back and no leave-one-out error") {
  std::vector<BatchTime> points;
  for (const std::int64_t b : {8, 16, 32, 64}) points.push_back({b, 0.002 + 0.0005 * static_cast<double>(b)});
  const BatchLine line = fit_batch_law(points, BatchLaw::affine);
  CHECK(test::relative_difference(line.intercept_s, 0.002) < 1e-12);
  CHECK(test::relative_difference(line.slope_s_per_sample, 0.0005) < 1e-12);
  CHECK(leave_one_out_error(points, BatchLaw::affine) < 1e-12);
}

TEST_CASE("residuals are relative: a small batch pulls as hard as a large one") {
  // Minimize Σ (s·b/t − 1)² through the origin (the intercept would be negative):
  // b/t = 1 and 2/3, so s = (1 + 2/3) / (1 + 4/9) = 15/13. Absolute residuals would give (1 + 6) / (1 + 4) =
  // 7/5.
  const std::vector<BatchTime> points = {{1, 1.0}, {2, 3.0}};
  const BatchLine line = fit_batch_law(points, BatchLaw::affine);
  CHECK(line.intercept_s == 0.0);
  CHECK(test::relative_difference(line.slope_s_per_sample, 15.0 / 13.0) < 1e-12);
}

TEST_CASE("a falling time is fitted by a constant: a negative slope would make large batches free") {
  // Minimize (a/3 − 1)² + (a/1 − 1)²: a = (1/3 + 1) / (1/9 + 1) = 6/5.
  const std::vector<BatchTime> points = {{8, 3.0}, {64, 1.0}};
  const BatchLine line = fit_batch_law(points, BatchLaw::affine);
  CHECK(line.slope_s_per_sample == 0.0);
  CHECK(test::relative_difference(line.intercept_s, 1.2) < 1e-12);
}

TEST_CASE("the leave-one-out error is the mean relative miss at the left-out batch") {
  // t = 1, 2, 4 at b = 1, 2, 3. Without the last: t = b, predicts 3 for 4: 1/4. Without the middle: slope
  // 3/2, intercept −1/2 is negative, so through the origin: b/t = 1 and 3/4, s = (7/4) / (25/16) = 28/25,
  // predicts 56/25 for 2: 3/25. Without the first: slope 2, intercept −2, so b/t = 1 and 3/4, s = 28/25,
  // predicts 28/25 for 1: 3/25.
  const std::vector<BatchTime> points = {{1, 1.0}, {2, 2.0}, {3, 4.0}};
  CHECK(test::relative_difference(leave_one_out_error(points, BatchLaw::affine), (0.25 + 0.12 + 0.12) / 3.0) <
        1e-12);
}

TEST_CASE("a line needs two different batches and positive times, leaving one out a third") {
  const std::vector<BatchTime> same = {{8, 1.0}, {8, 1.1}};
  CHECK_THROWS_AS(static_cast<void>(fit_batch_law(same, BatchLaw::affine)), ProgrammingError);
  const std::vector<BatchTime> zero = {{8, 0.0}, {16, 1.0}};
  CHECK_THROWS_AS(static_cast<void>(fit_batch_law(zero, BatchLaw::affine)), ProgrammingError);
  const std::vector<BatchTime> two = {{8, 1.0}, {16, 2.0}};
  CHECK_THROWS_AS(static_cast<void>(leave_one_out_error(two, BatchLaw::affine)), ProgrammingError);
}

TEST_CASE("noise-free samples give back every coefficient of the machine that made them") {
  const SyntheticMachine machine;
  const ProfileFits fits = fit_profile(synthetic_samples(machine), Bytes{4000.0});
  REQUIRE(fits.compute.size() == 2);
  for (const ComputeFit& fit : fits.compute) {
    CHECK(test::relative_difference(fit.intercept.value(), machine.intercept_s / fit.cores) < 1e-10);
    CHECK(test::relative_difference(fit.slope_per_sample.value(), machine.slope_s_per_sample / fit.cores) <
          1e-10);
    CHECK(fit.leave_one_out_error < 1e-10);
    CHECK(fit.batch_min_samples == 8);
    CHECK(fit.batch_max_samples == 128);
    CHECK(fit.optimizer_step == Seconds{1e-4 / fit.cores});
  }
  // 4000 B in 1 us and in 2 us
  CHECK(test::relative_difference(fits.server_accumulate_rate.value(), 4e9) < 1e-12);
  CHECK(test::relative_difference(fits.server_step_rate.value(), 2e9) < 1e-12);
  CHECK(fits.jitter.iteration_cv == 0.0);
  CHECK_FALSE(fits.memory.has_value());  // no sample says its memory
}

TEST_CASE("noisy samples give the coefficients back within the noise of their medians") {
  const SyntheticMachine machine{.iteration_cv = 0.05, .processes = 5, .iterations = 400};
  const ProfileFits fits = fit_profile(synthetic_samples(machine), Bytes{4000.0});
  // Standard error of a median of medians: about 1.25² · 0.05 / √2000 = 0.2 % of the time. Extrapolating to
  // batch 0 multiplies it by the ratio of the time at 8 to the intercept (3) and by less than 2 for the
  // geometry: 1 %.
  for (const ComputeFit& fit : fits.compute) {
    CHECK(test::relative_difference(fit.intercept.value(), machine.intercept_s / fit.cores) < 0.04);
    CHECK(test::relative_difference(fit.slope_per_sample.value(), machine.slope_s_per_sample / fit.cores) <
          0.01);
    CHECK(fit.leave_one_out_error < 0.01);
  }
}

TEST_CASE("outliers leave the fit alone: a fifth of the iterations and two of five processes disturbed") {
  const SyntheticMachine machine{.iteration_cv = 0.02, .processes = 5};
  std::vector<Sample> samples = synthetic_samples(machine);
  for (Sample& sample : samples) {
    if (sample.operation != Operation::forward_backward) continue;
    for (std::size_t i = 0; i < sample.seconds.size(); i += 5) sample.seconds[i] *= 20.0;
    if (sample.process >= 3)
      for (double& seconds : sample.seconds) seconds *= 10.0;
  }
  const ProfileFits fits = fit_profile(samples, Bytes{4000.0});
  // Iterations beyond 3 medians are left out; that the largest of three undisturbed processes is taken adds
  // less than a standard deviation of their means. A plain mean would be off by a factor of 4.8.
  for (const ComputeFit& fit : fits.compute) {
    CHECK(test::relative_difference(fit.slope_per_sample.value(), machine.slope_s_per_sample / fit.cores) <
          0.03);
    CHECK(test::relative_difference(fit.intercept.value(), machine.intercept_s / fit.cores) < 0.08);
  }
}

TEST_CASE("moderately slow iterations count: the fit is to the mean, not to the median") {
  // A quarter of the iterations takes twice as long: the mean is 1.25 times the undisturbed time, the median
  // is not moved.
  const SyntheticMachine machine{.iteration_cv = 0.0, .processes = 5};
  std::vector<Sample> samples = synthetic_samples(machine);
  for (Sample& sample : samples) {
    if (sample.operation != Operation::forward_backward) continue;
    REQUIRE(sample.seconds.size() % 4 == 0);
    for (std::size_t i = 0; i < sample.seconds.size(); i += 4) sample.seconds[i] *= 2.0;
  }
  for (const ComputeFit& fit : fit_profile(samples, Bytes{4000.0}).compute)
    CHECK(test::relative_difference(fit.slope_per_sample.value(),
                                    1.25 * machine.slope_s_per_sample / fit.cores) < 1e-9);
}

TEST_CASE("loading times give their line back, from the fewest cores, and no line where nothing was loaded") {
  // 2 ms + 0.1 ms · b on one core; what other counts say does not matter
  std::vector<Sample> samples = synthetic_samples({});
  CHECK_FALSE(fit_loading(samples));
  for (int process = 0; process < 3; ++process)
    for (const std::int64_t batch : {8, 32, 128}) {
      const double seconds = 0.002 + 0.0001 * static_cast<double>(batch);
      samples.push_back(
          {1, batch, process, Operation::load_batch, {seconds, seconds, seconds, 50.0 * seconds}});
      samples.push_back({2, batch, process, Operation::load_batch, {7.0 * seconds}});
    }
  const std::optional<LoadingFit> loading = fit_loading(samples);
  REQUIRE(loading);
  CHECK(loading->intercept.value() == doctest::Approx(0.002));
  CHECK(loading->per_sample.value() == doctest::Approx(0.0001));
}

}  // namespace paceline::calibrate

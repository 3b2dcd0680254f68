#include <cmath>

#include <doctest/doctest.h>

#include "calibrate/fit/fit.hpp"
#include "calibrate/fit/laws.hpp"
#include "tests/calibrate/fit/synthetic_samples.hpp"
#include "tests/support/relative_difference.hpp"

namespace paceline::calibrate {
namespace {

std::vector<BatchTime> bent(double knee, double slope, double beyond) {
  std::vector<BatchTime> points;
  for (const std::int64_t b : {8, 16, 32, 64, 128, 256, 512, 1024}) {
    const auto batch = static_cast<double>(b);
    points.push_back({b, 0.1 + slope * batch + beyond * std::max(0.0, batch - knee)});
  }
  return points;
}

}  // namespace

TEST_CASE("a bend is found where it is, with both slopes, and beats the line") {
  const BatchLawChoice choice = choose_batch_law(bent(128.0, 0.007, 0.005));
  CHECK(choice.law == BatchLaw::knee);
  REQUIRE(choice.line.knee.has_value());
  CHECK(choice.line.knee->at_samples == 128.0);
  CHECK(test::relative_difference(choice.line.intercept_s, 0.1) < 1e-9);
  CHECK(test::relative_difference(choice.line.slope_s_per_sample, 0.007) < 1e-9);
  CHECK(test::relative_difference(choice.line.knee->extra_slope.value(), 0.005) < 1e-9);
  CHECK(choice.leave_one_out_error < choice.affine_error);
}

TEST_CASE("small batches that leave cores idle bend the other way") {
  const BatchLawChoice choice = choose_batch_law(bent(64.0, 0.007, -0.004));
  CHECK(choice.law == BatchLaw::knee);
  CHECK(test::relative_difference(choice.line.knee->extra_slope.value(), -0.004) < 1e-9);
}

TEST_CASE("a straight line stays a line, and with fewer than 6 batches nothing else competes") {
  CHECK(choose_batch_law(bent(1e9, 0.007, 0.0)).law == BatchLaw::affine);
  const std::vector<BatchTime> all = bent(32.0, 0.007, 0.01);
  const std::vector<BatchTime> five(all.begin(), all.begin() + 5);
  const BatchLawChoice choice = choose_batch_law(five);
  CHECK(choice.law == BatchLaw::affine);
  CHECK_FALSE(choice.knee_error.has_value());
}

TEST_CASE("noise alone does not buy a knee: in most of 50 calibrations the line is kept") {
  int lines = 0;
  for (std::uint32_t seed = 0; seed < 50; ++seed) {
    const SyntheticMachine machine{.iteration_cv = 0.1,
                                   .processes = 3,
                                   .iterations = 20,
                                   .batches = {4, 8, 16, 32, 64, 128, 256},
                                   .cores = {1}};
    if (choose_batch_law(batch_times(synthetic_samples(machine, seed), 1)).law == BatchLaw::affine) ++lines;
  }
  CHECK(lines >= 35);
}

TEST_CASE("noise, stalls and a disturbed process: the coefficients of a bent machine come back") {
  SyntheticMachine machine{.intercept_s = 0.02,
                           .slope_s_per_sample = 0.001,
                           .knee_at_samples = 64.0,
                           .extra_slope_s_per_sample = 0.001,
                           .iteration_cv = 0.05,
                           .run_cv = 0.005,
                           .processes = 5,
                           .iterations = 100,
                           .batches = {4, 8, 16, 32, 64, 128, 256, 512},
                           .cores = {1}};
  std::vector<Sample> samples = synthetic_samples(machine);
  for (Sample& sample : samples) {
    if (sample.operation != Operation::forward_backward) continue;
    for (std::size_t i = 0; i < sample.seconds.size(); i += 20) sample.seconds[i] *= 50.0;
    if (sample.process == 2)
      for (double& seconds : sample.seconds) seconds *= 1.5;
  }
  const BatchLawChoice choice = choose_batch_law(batch_times(samples, 1));
  REQUIRE(choice.law == BatchLaw::knee);
  // The mean of 4 · 95 iterations of 5 % noise: 0.26 %; of 4 run factors: 0.25 %. Ten of them for what the
  // fit amplifies.
  CHECK(test::relative_difference(choice.line.slope_s_per_sample, 0.001) < 0.03);
  CHECK(test::relative_difference(choice.line.knee->extra_slope.value(), 0.001) < 0.05);
  CHECK(choice.leave_one_out_error < 0.02);
}

TEST_CASE("the published CPU curve of OmniLearn bends: throughput falls beyond its best batch") {
  // batch and images/s; five points are too few for the choice, but the law can pass through them
  const std::vector<std::pair<std::int64_t, double>> published = {
      {64, 69.0}, {128, 92.0}, {256, 111.0}, {512, 97.0}, {1024, 83.0}};
  std::vector<BatchTime> points;
  for (const auto& [batch, rate] : published) points.push_back({batch, static_cast<double>(batch) / rate});
  const BatchLine line = fit_batch_law(points, BatchLaw::knee);
  CHECK(line.knee->extra_slope > Seconds{0.0});
  for (const BatchTime& point : points)
    CHECK(test::relative_difference(line.at(static_cast<double>(point.batch_samples)), point.seconds) < 0.03);
  CHECK(256.0 / line.at(256.0) > 512.0 / line.at(512.0));
}

}  // namespace paceline::calibrate

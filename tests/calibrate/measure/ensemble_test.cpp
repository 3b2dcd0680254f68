// How sure a calibration says it is, against how wrong calibrations of a known machine are.
#include <cmath>

#include <doctest/doctest.h>

#include "calibrate/fit/fit.hpp"
#include "tests/calibrate/fit/synthetic_samples.hpp"

namespace paceline::calibrate {

TEST_CASE("below 3 processes there is no ensemble: two cannot tell how much processes differ") {
  CHECK(
      fit_profile(synthetic_samples({.iteration_cv = 0.1, .processes = 2}), Bytes{4000.0}).ensemble.empty());
  const ProfileFits fits =
      fit_profile(synthetic_samples({.iteration_cv = 0.1, .processes = 3}), Bytes{4000.0});
  REQUIRE(fits.ensemble.size() == ensemble_size);
  CHECK(fits.ensemble[0].compute.size() == 2);
  CHECK(fits.compute[0].relative_half_width.has_value());
}

TEST_CASE("the spread of the ensemble is the standard error of the calibration, or a little more") {
  // Every process is 10 % off in all its batches, so T(32) is the mean of 6 factors (Tukey's estimate of
  // them, which is 5 % less efficient): its standard error is 0.1/√6 = 4.1 %. The ensemble's variance,
  // averaged over 60 calibrations, must not be below that, nor more than half above.
  double mean_variance = 0.0;
  constexpr int calibrations = 60;
  for (std::uint32_t seed = 0; seed < calibrations; ++seed) {
    const SyntheticMachine machine{
        .process_cv = 0.1, .processes = 6, .iterations = 2, .batches = {8, 32, 128}, .cores = {1}};
    const ProfileFits fits = fit_profile(synthetic_samples(machine, seed), Bytes{4000.0});
    double sum = 0.0;
    double squares = 0.0;
    for (const ProfileDraw& draw : fits.ensemble) {
      const double log =
          std::log((draw.compute[0].intercept + 32.0 * draw.compute[0].slope_per_sample).value());
      sum += log / ensemble_size;
      squares += log * log / ensemble_size;
    }
    mean_variance += (squares - sum * sum) / calibrations;
  }
  CHECK(std::sqrt(mean_variance) > 0.041);
  CHECK(std::sqrt(mean_variance) < std::sqrt(1.5) * 0.041);
}

TEST_CASE("memory is a line over the peaks that were measured") {
  std::vector<Sample> samples = synthetic_samples({});
  for (Sample& sample : samples)
    if (sample.operation == Operation::forward_backward)
      sample.peak_memory_bytes = 2e8 + 3e6 * static_cast<double>(sample.batch);
  const std::optional<MemoryFit> memory = fit_memory(samples);
  REQUIRE(memory.has_value());
  CHECK(memory->base.value() == doctest::Approx(2e8));
  CHECK(memory->per_sample.value() == doctest::Approx(3e6));
  // (1e9 − 2e8) / 3e6 = 266.7
  CHECK(memory->largest_batch(Bytes{1e9}) == 266);
  CHECK(memory->largest_batch(Bytes{2.02e8}) == 0);
}

}  // namespace paceline::calibrate

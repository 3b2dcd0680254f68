#include "sim/policy/batching/observed_curve.hpp"

#include <cmath>

#include <doctest/doctest.h>

using namespace paceline;

TEST_CASE("one batch tells nothing of the shape: time in proportion") {
  ObservedCurve curve;
  curve.observe(64.0, 2.0, 0.05);
  CHECK(curve.near().batch_taking(1.0) == doctest::Approx(32.0));
  CHECK(curve.near().batch_taking(3.0) == doctest::Approx(96.0));
}

TEST_CASE("without noise two batches give the power law through them, on both sides") {
  // t = 2·√(b/64): e = 1/2, so half the time takes a quarter of the batch.
  ObservedCurve curve;
  curve.observe(64.0, 2.0, 0.0);
  curve.observe(256.0, 4.0, 0.0);
  CHECK(curve.near().elasticity_above == doctest::Approx(0.5));
  CHECK(curve.near().batch_taking(2.0) == doctest::Approx(64.0));
  CHECK(curve.near().batch_taking(8.0) == doctest::Approx(1024.0));
}

TEST_CASE("batches on both sides give a law to each") {
  // t = b up to 100, beyond it four times as much a sample: 50 s at 50, 500 s at 200, 100 s at 100.
  ObservedCurve curve;
  curve.observe(50.0, 50.0, 0.0);
  curve.observe(200.0, 500.0, 0.0);
  curve.observe(100.0, 100.0, 0.0);
  CHECK(curve.near().elasticity_below == doctest::Approx(1.0));
  CHECK(curve.near().elasticity_above == doctest::Approx(std::log(5.0) / std::log(2.0)));
}

TEST_CASE("batches as far apart as the noise count half") {
  // x = σ: w = 1/2, e = 1 + (e_i - 1)/2; here e_i = 3.
  const double noise = 0.1;
  ObservedCurve curve;
  curve.observe(100.0, 1.0, noise);
  curve.observe(100.0 * std::exp(noise), std::exp(3.0 * noise), noise);
  CHECK(curve.near().elasticity_above == doctest::Approx(2.0));
}

TEST_CASE("a time that changed by less than the noise does not tell that time hardly grows") {
  // x = 2σ, e_i = 1/10: weighted 1 - 0.9·4/5 = 0.28, but not below σ/x = 0.5. Where less was known before,
  // that stays.
  const double noise = 0.1;
  ObservedCurve curve;
  curve.observe(100.0, 1.0, noise);
  curve.observe(100.0 * std::exp(2.0 * noise), std::exp(0.2 * noise), noise);
  CHECK(curve.near().elasticity_above == doctest::Approx(0.5));
  curve.observe(2000.0, 1.0 * std::exp(0.2 * noise), noise);  // elasticity 0: another speed
  CHECK(curve.near().elasticity_above == doctest::Approx(0.5));
}

TEST_CASE("another speed at the same batch scales all times and leaves the shape") {
  ObservedCurve curve;
  curve.observe(64.0, 2.0, 0.0);
  curve.observe(256.0, 4.0, 0.0);
  curve.observe(256.0, 12.0, 0.0);  // three times as slow
  CHECK(curve.near().elasticity_below == doctest::Approx(0.5));
  CHECK(curve.near().batch_taking(6.0) == doctest::Approx(64.0));
  curve.observe(128.0, 6.0 * std::sqrt(2.0), 0.0);  // at 64 it would take 6 s now
  CHECK(curve.near().elasticity_below == doctest::Approx(0.5));
}

TEST_CASE("a batch whose time contradicts is of another speed, and is forgotten with those before it") {
  // Larger and yet faster: the worker runs at another speed now; the shape known before stays.
  ObservedCurve curve;
  curve.observe(64.0, 2.0, 0.0);
  curve.observe(256.0, 4.0, 0.0);
  curve.observe(300.0, 1.0, 0.0);
  CHECK(curve.near().elasticity_below == doctest::Approx(0.5));
  CHECK(curve.near().elasticity_above == doctest::Approx(0.5));
  curve.observe(200.0, 1.0 / 1.5, 0.0);  // e = 1 towards 300, and nothing else is remembered
  CHECK(curve.near().elasticity_below == doctest::Approx(1.0));
}

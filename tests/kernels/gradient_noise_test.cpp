#include "kernels/interface/gradient_noise.hpp"

#include <doctest/doctest.h>

#include "kernels/interface/training_step.hpp"

using namespace paceline::kernels;

TEST_CASE("gradients of small batches are longer than their mean, and the loss falls along training") {
  set_compute_threads(1);
  const std::vector<NoisePoint> points = measure_gradient_noise(
      "small-cnn", {.small_batch = 16, .large_batch = 64, .points = {5, 40, 80}, .repeats = 3});
  REQUIRE(points.size() == 3);
  for (const NoisePoint& point : points) {
    REQUIRE(point.repeats.size() == 3);
    for (const GradientSquares& squares : point.repeats) {
      CHECK(squares.large > 0.0);
      CHECK(squares.small > squares.large);  // |mean g|² ≤ mean |g|²
    }
  }
  CHECK(points[2].loss < points[0].loss);
}

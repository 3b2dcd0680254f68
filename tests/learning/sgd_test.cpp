#include "sim/learning/sgd.hpp"

#include <vector>

#include <doctest/doctest.h>

#include "sim/base/check.hpp"

using namespace paceline;

// All values below are exact in binary, so that the traces are compared with ==.

TEST_CASE("momentum: three steps by hand") {
  // v ← v/2 + g, x ← x − v/4, with g = 1, 1, −2: v = 1, 1.5, −1.25; x = 8 → 7.75 → 7.375 → 7.6875
  std::vector<float> x{8.0F};
  std::vector<float> v{0.0F};
  const Hyperparameters hyperparameters{.learning_rate = 0.25, .momentum = 0.5};
  const auto step = [&](float g) { sgd_step(x, v, std::vector{g}, hyperparameters, false); };
  step(1.0F);
  CHECK(v[0] == 1.0F);
  CHECK(x[0] == 7.75F);
  step(1.0F);
  CHECK(v[0] == 1.5F);
  CHECK(x[0] == 7.375F);
  step(-2.0F);
  CHECK(v[0] == -1.25F);
  CHECK(x[0] == 7.6875F);
}

TEST_CASE("Nesterov: two steps by hand") {
  // v ← v/2 + g, x ← x − (g + v/2)/4, with g = 1, 1: v = 1, 1.5; directions 1.5, 1.75; x = 8 → 7.625 → 7.1875
  std::vector<float> x{8.0F};
  std::vector<float> v{0.0F};
  const Hyperparameters hyperparameters{.learning_rate = 0.25, .momentum = 0.5};
  sgd_step(x, v, std::vector{1.0F}, hyperparameters, true);
  CHECK(x[0] == 7.625F);
  sgd_step(x, v, std::vector{1.0F}, hyperparameters, true);
  CHECK(v[0] == 1.5F);
  CHECK(x[0] == 7.1875F);
}

TEST_CASE("without momentum a step is plain gradient descent, whatever came before") {
  std::vector<float> x{1.0F, 2.0F};
  std::vector<float> v{100.0F, -100.0F};
  sgd_step(x, v, std::vector{2.0F, 4.0F}, {.learning_rate = 0.5, .momentum = 0.0}, false);
  CHECK(x == std::vector{0.0F, 0.0F});
}

TEST_CASE("weight decay adds the parameters to the gradient, weighted gradients add up") {
  std::vector<float> g{1.0F, -1.0F};
  add_weight_decay(g, std::vector{8.0F, 4.0F}, 0.125);
  CHECK(g == std::vector{2.0F, -0.5F});
  std::vector<float> sum{0.0F, 0.0F};
  accumulate_gradient(sum, g, 0.75);
  accumulate_gradient(sum, std::vector{4.0F, 8.0F}, 0.25);
  CHECK(sum == std::vector{2.5F, 1.625F});
}

TEST_CASE("the two halves of a step, one after the other, are the step") {
  for (const bool nesterov : {false, true}) {
    CAPTURE(nesterov);
    std::vector<float> whole{0.3F, -0.7F};
    std::vector<float> halves = whole;
    std::vector<float> whole_velocity{0.1F, 0.2F};
    std::vector<float> halves_velocity = whole_velocity;
    std::vector<float> g{1.1F, -0.9F};
    sgd_step(whole, whole_velocity, g, {.learning_rate = 0.1, .momentum = 0.9}, nesterov);
    follow_momentum(g, halves_velocity, 0.9, nesterov);
    descend(halves, g, 0.1);
    CHECK(halves == whole);
    CHECK(halves_velocity == whole_velocity);
  }
}

TEST_CASE("arrays of different networks do not mix") {
  std::vector<float> two{0.0F, 0.0F};
  const std::vector<float> three{1.0F, 1.0F, 1.0F};
  std::vector<float> longer = three;
  CHECK_THROWS_AS(accumulate_gradient(two, three, 1.0), ProgrammingError);
  CHECK_THROWS_AS(add_weight_decay(two, three, 1.0), ProgrammingError);
  CHECK_THROWS_AS(follow_momentum(two, longer, 1.0, false), ProgrammingError);
  CHECK_THROWS_AS(descend(two, three, 1.0), ProgrammingError);
}

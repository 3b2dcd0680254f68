#include "sim/learning/adamw.hpp"

#include <vector>

#include <doctest/doctest.h>

#include "sim/learning/parameter_store.hpp"

using namespace paceline;

TEST_CASE("AdamW: two steps by hand") {
  // β₁ = ½, β₂ = ¾, ε = 0, η = ⅛, decay 1: every step first takes ⅛ off.
  // t = 1, g = 2: m = 1, v = 1; m/(1 − ½) = 2, √(v/(1 − ¾)) = 2: x = 7/8·8 − ⅛ = 6.875
  // t = 2, g = −1: m = 0, v = ¾ + ¼ = 1: the mean is 0, only the decay is left: x = 7/8·6.875
  std::vector<float> x{8.0F};
  std::vector<float> mean{0.0F};
  std::vector<float> square{0.0F};
  const AdamW adamw{.beta1 = 0.5, .beta2 = 0.75, .epsilon = 0.0};
  adamw_step(x, {mean, square}, std::vector{2.0F}, 1, 0.125, 1.0, adamw);
  CHECK(mean[0] == 1.0F);
  CHECK(square[0] == 1.0F);
  CHECK(x[0] == 6.875F);
  adamw_step(x, {mean, square}, std::vector{-1.0F}, 2, 0.125, 1.0, adamw);
  CHECK(mean[0] == 0.0F);
  CHECK(square[0] == 1.0F);
  CHECK(x[0] == 6.015625F);
}

namespace {

// Of two parameters, by AdamW with β₁ = β₂ = ½: the first step is η in the gradient's direction, whatever its
// size.
ParameterStore two_parameters(std::uint32_t servers) {
  return ParameterStore({8.0F, 4.0F}, {.worker_count = 2,
                                       .server_count = servers,
                                       .adamw = AdamW{.beta1 = 0.5, .beta2 = 0.5, .epsilon = 1e-30}});
}

}  // namespace

TEST_CASE("servers count their steps of AdamW each for itself, and share out the parameters") {
  for (const std::uint32_t servers : {1U, 2U}) {
    ParameterStore store = two_parameters(servers);
    for (std::uint64_t update = 0; update < 2; ++update) {
      store.hold(WorkerId{0}, GradientId{update}, {16.0F, -2.0F});
      for (std::uint64_t s = 0; s < servers; ++s)
        store.apply(ServerId{s}, std::vector{WeightedGradient{GradientId{update}, WorkerId{0}}},
                    {.learning_rate = 0.5});
    }
    // Equal gradients: mean and root of the mean square keep their ratio of ±1.
    CHECK(store.global()[0] == doctest::Approx(7.0));
    CHECK(store.global()[1] == doctest::Approx(5.0));
  }
}

TEST_CASE("workers that train locally go on with the servers' moments, and then have their own") {
  // One step at the server with g = (2, 2): m = 1, v = 2. Worker 0 goes on with g = 0:
  // m = ½ / (1 − ¼) = ⅔, v = 1 / (1 − ¼) = 4/3: ⅔ / √(4/3) = 1/√3 of the rate. Worker 1, g = 2: all of it.
  ParameterStore store = two_parameters(1);
  store.hold(WorkerId{0}, GradientId{0}, {2.0F, 2.0F});
  store.apply(ServerId{0}, std::vector{WeightedGradient{GradientId{0}, WorkerId{0}}}, {.learning_rate = 0.5});
  for (std::uint64_t w = 0; w < 2; ++w) {
    store.pull(WorkerId{w}, ServerId{0});
    store.begin_local_training(WorkerId{w});
    store.step_locally(WorkerId{w}, w == 0 ? std::vector{0.0F, 0.0F} : std::vector{2.0F, 2.0F},
                       {.learning_rate = 1.0});
  }
  CHECK(store.copy_of(WorkerId{0})[0] == doctest::Approx(7.5 - 0.57735));
  CHECK(store.copy_of(WorkerId{1})[0] == doctest::Approx(6.5));
}

// A worker's own copy of the parameters: steps, and a step that is taken back.
#include "calibrate/live/worker/own_copy.hpp"

#include <array>

#include <doctest/doctest.h>

using namespace paceline;
using paceline::live::OwnCopy;

namespace {

OwnCopy copy_of(float x) {
  NetworkLearnerConfig learner;
  learner.worker_count = 1;
  return {learner, {x}};
}

constexpr std::array values = {4.0F};
constexpr Hyperparameters halves{0.5, 0.5};  // learning rate, momentum

}  // namespace

TEST_CASE("steps on its own copy follow gradient and velocity, and the latest is taken back with it") {
  // v = 4, x = 10 - 4/2 = 8; v = 4/2 + 4 = 6, x = 8 - 6/2 = 5, and the same once more.
  OwnCopy copy = copy_of(10.0F);
  const auto steps_to = [&](std::uint64_t gradient) {
    copy.step(gradient, values, halves);
    return copy.parameters()[0];
  };
  CHECK(steps_to(0) == 8.0F);
  CHECK(steps_to(1) == 5.0F);
  copy.take_back(0);  // has counted meanwhile: only the latest step can be taken back
  CHECK(copy.parameters()[0] == 5.0F);
  copy.take_back(1);
  copy.take_back(1);
  CHECK(copy.parameters()[0] == 8.0F);
  CHECK(steps_to(2) == 5.0F);
}

TEST_CASE("a velocity scaled after a step is scaled as well once that is taken back") {
  // v = 4, x = 8; the second is taken back, v = 4/2 = 2; v = 2/2 + 4 = 5, x = 8 - 5/2.
  OwnCopy copy = copy_of(10.0F);
  copy.step(0, values, halves);
  copy.step(1, values, halves);
  copy.scale_velocity(0.5);
  copy.take_back(1);
  copy.step(2, values, halves);
  CHECK(copy.parameters()[0] == 5.5F);
}

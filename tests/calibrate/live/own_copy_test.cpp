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

constexpr std::array gradient = {4.0F};
constexpr Hyperparameters halves{0.5, 0.5};  // learning rate, momentum

}  // namespace

TEST_CASE("a step on its own copy follows the gradient and keeps a velocity") {
  // v = 4, x = 10 - 4/2 = 8; v = 4/2 + 4 = 6, x = 8 - 6/2 = 5.
  OwnCopy copy = copy_of(10.0F);
  copy.step(0, gradient, halves);
  CHECK(copy.parameters()[0] == 8.0F);
  copy.step(1, gradient, halves);
  CHECK(copy.parameters()[0] == 5.0F);
}

TEST_CASE("the latest step is taken back with its velocity, and only once") {
  // Without the second step the third arrives where the second did.
  OwnCopy copy = copy_of(10.0F);
  copy.step(0, gradient, halves);
  copy.step(1, gradient, halves);
  copy.take_back(1);
  copy.take_back(1);
  CHECK(copy.parameters()[0] == 8.0F);
  copy.step(2, gradient, halves);
  CHECK(copy.parameters()[0] == 5.0F);
}

TEST_CASE("an earlier step remains, whoever calls it off") {
  OwnCopy copy = copy_of(10.0F);
  copy.step(0, gradient, halves);
  copy.step(1, gradient, halves);
  copy.take_back(0);
  CHECK(copy.parameters()[0] == 5.0F);
}

TEST_CASE("a velocity scaled after a step is scaled as well once that is taken back") {
  // v = 4, x = 8; the second is taken back, v = 4/2 = 2; v = 2/2 + 4 = 5, x = 8 - 5/2.
  OwnCopy copy = copy_of(10.0F);
  copy.step(0, gradient, halves);
  copy.step(1, gradient, halves);
  copy.scale_velocity(0.5);
  copy.take_back(1);
  copy.step(2, gradient, halves);
  CHECK(copy.parameters()[0] == 5.5F);
}

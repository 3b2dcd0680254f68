#include <doctest/doctest.h>

#include "sim/base/check.hpp"
#include "sim/base/diagnostic.hpp"
#include "sim/learning/network_learner.hpp"

using namespace paceline;

namespace {

NetworkLearnerConfig small_job() {
  return {.network = "small-cnn",
          .dataset = {.kind = "built-in-images", .path = "", .train_samples = 64, .test_samples = 50},
          .worker_count = 1,
          .seed = {.seed = 1, .replication = 0}};
}

}  // namespace

TEST_CASE("a program that does not link LibTorch trains a network through the module") {
  const std::unique_ptr<Learner> learner = load_network_learner(small_job());
  const double before = learner->evaluate().value().loss;
  for (std::uint64_t step = 0; step < 30; ++step) {
    learner->pull(WorkerId{0}, ServerId{0});
    learner->compute(WorkerId{0}, 64, GradientId{step});
    const WeightedGradient gradient{GradientId{step}, WorkerId{0}, 1.0};
    learner->apply(ServerId{0}, {&gradient, 1}, {.learning_rate = 0.01, .momentum = 0.9});
  }
  // Which way the loss went is the network's business; that it moved shows that the updates arrived.
  CHECK(learner->evaluate().value().loss != before);
}

TEST_CASE("a user's mistake found inside the module is caught as UserError outside") {
  NetworkLearnerConfig config = small_job();
  config.network = "small-cn";
  CHECK_THROWS_WITH_AS(static_cast<void>(load_network_learner(config)),
                       doctest::Contains("did you mean `small-cnn`?"), UserError);
}

TEST_CASE("a defect found inside the module is caught as ProgrammingError outside") {
  const std::unique_ptr<Learner> learner = load_network_learner(small_job());
  CHECK_THROWS_AS(learner->discard(GradientId{5}), ProgrammingError);
}

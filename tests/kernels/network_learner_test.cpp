#include "kernels/training/network_learner.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <cstdio>
#include <memory>
#include <numeric>
#include <string>

#include <doctest/doctest.h>

#include "kernels/data/built_in_images.hpp"
#include "sim/base/check.hpp"
#include "sim/base/diagnostic.hpp"
#include "tests/kernels/fingerprint.hpp"
#include "tests/kernels/relative_difference.hpp"

using namespace paceline;
using paceline::test::relative_difference;
using namespace paceline::kernels;

namespace {

constexpr WorkerId first_worker{0};
constexpr WorkerId second_worker{1};

NetworkLearnerConfig job(std::int64_t train_samples = 100) {
  return {
      .network = "small-cnn",
      .dataset = {.kind = "built-in-images", .path = "", .train_samples = train_samples, .test_samples = 20},
      .worker_count = 2,
      .seed = {.seed = 1, .replication = 0}};
}

std::vector<float> copy(std::span<const float> values) {
  return {values.begin(), values.end()};
}

void apply_one(NetworkLearner& learner, GradientId gradient, const Hyperparameters& hyperparameters,
               WorkerId worker = first_worker) {
  const WeightedGradient weighted{gradient, worker, 1.0};
  learner.apply(ServerId{0}, {&weighted, 1}, hyperparameters);
}

// (a · na + b · nb) / (na + nb)
std::vector<float> weighted_mean(std::span<const float> a, double na, std::span<const float> b, double nb) {
  std::vector<float> mean;
  for (std::size_t i = 0; i < a.size(); ++i) {
    mean.push_back(static_cast<float>((a[i] * na + b[i] * nb) / (na + nb)));
  }
  return mean;
}

}  // namespace

TEST_CASE("with equal shards a worker reads its own shard only, with the whole data all of it") {
  // Two samples, two workers. A shard is one sample: a worker's gradients repeat, and those of the other
  // differ. Of the whole data the second batch of one is the other sample.
  NetworkLearnerConfig config = job(2);
  config.dataset.partition = DataPartition::equal_shards;
  NetworkLearner sharded(config);
  sharded.compute(first_worker, 1, GradientId{0});
  sharded.compute(first_worker, 1, GradientId{1});
  sharded.compute(second_worker, 1, GradientId{2});
  CHECK(std::ranges::equal(sharded.gradient(GradientId{0}), sharded.gradient(GradientId{1})));
  CHECK_FALSE(std::ranges::equal(sharded.gradient(GradientId{0}), sharded.gradient(GradientId{2})));
  NetworkLearner whole(job(2));
  whole.compute(first_worker, 1, GradientId{0});
  whole.compute(first_worker, 1, GradientId{1});
  CHECK_FALSE(std::ranges::equal(whole.gradient(GradientId{0}), whole.gradient(GradientId{1})));
}

TEST_CASE("a stale gradient is the gradient at the parameters the worker pulled") {
  NetworkLearner moved(job());
  moved.pull(first_worker, ServerId{0});
  moved.compute(second_worker, 8, GradientId{0});
  apply_one(moved, GradientId{0}, {.learning_rate = 0.1, .momentum = 0.0}, second_worker);
  moved.compute(first_worker, 8, GradientId{1});

  NetworkLearner still(job());
  still.compute(first_worker, 8, GradientId{1});
  CHECK(std::ranges::equal(moved.gradient(GradientId{1}), still.gradient(GradientId{1})));

  NetworkLearner pulled_late(job());
  pulled_late.compute(second_worker, 8, GradientId{0});
  apply_one(pulled_late, GradientId{0}, {.learning_rate = 0.1, .momentum = 0.0}, second_worker);
  pulled_late.pull(first_worker, ServerId{0});
  pulled_late.compute(first_worker, 8, GradientId{1});
  CHECK_FALSE(std::ranges::equal(pulled_late.gradient(GradientId{1}), still.gradient(GradientId{1})));
}

TEST_CASE("weight decay uses the worker's copy, not the global parameters") {
  // g(decay) − g(no decay) = weight_decay · x_pulled, while the global parameters have moved on
  NetworkLearnerConfig with_decay = job();
  with_decay.weight_decay = 0.5;
  std::vector<std::vector<float>> gradients;
  std::vector<float> pulled;
  for (const NetworkLearnerConfig& config : {job(), with_decay}) {
    NetworkLearner learner(config);
    pulled = copy(learner.global_parameters());
    learner.compute(second_worker, 8, GradientId{0});
    apply_one(learner, GradientId{0}, {.learning_rate = 0.1, .momentum = 0.0}, second_worker);
    REQUIRE_FALSE(std::ranges::equal(pulled, learner.global_parameters()));
    learner.compute(first_worker, 8, GradientId{1});
    gradients.push_back(copy(learner.gradient(GradientId{1})));
  }
  std::vector<float> difference;
  for (std::size_t i = 0; i < pulled.size(); ++i) {
    difference.push_back((gradients[1][i] - gradients[0][i]) / 0.5F);
  }
  CHECK(relative_difference(difference, pulled) < 1e-5);
}

TEST_CASE("three updates follow the equations of the learner's contract") {
  for (const bool nesterov : {false, true}) {
    CAPTURE(nesterov);
    NetworkLearnerConfig config = job();
    config.nesterov = nesterov;
    NetworkLearner learner(config);
    std::vector<float> x = copy(learner.global_parameters());
    std::vector<double> v(x.size(), 0.0);
    for (std::uint64_t update = 0; update < 3; ++update) {
      const GradientId a{2 * update};
      const GradientId b{2 * update + 1};
      learner.pull(first_worker, ServerId{0});
      learner.compute(first_worker, 16, a);
      learner.compute(second_worker, 8, b);
      for (std::size_t i = 0; i < x.size(); ++i) {
        const double s = 0.75 * learner.gradient(a)[i] + 0.25 * learner.gradient(b)[i];
        v[i] = 0.9 * v[i] + s;
        x[i] = static_cast<float>(x[i] - 0.05 * (nesterov ? s + 0.9 * v[i] : v[i]));
      }
      learner.apply(
          ServerId{0},
          std::array{WeightedGradient{a, WorkerId{0}, 0.75}, WeightedGradient{b, WorkerId{1}, 0.25}},
          {.learning_rate = 0.05, .momentum = 0.9});
      CHECK(relative_difference(learner.global_parameters(), x) < 1e-6);
    }
  }
}

TEST_CASE("a batch of 48 extends a batch of 32: the same samples and 16 more") {
  // 48 · g48 = 32 · g32 + 16 · g16, where the 16 are the worker's next samples
  NetworkLearner whole(job());
  whole.compute(first_worker, 48, GradientId{0});
  NetworkLearner parts(job());
  parts.compute(first_worker, 32, GradientId{0});
  parts.compute(first_worker, 16, GradientId{1});
  const std::vector<float> mean =
      weighted_mean(parts.gradient(GradientId{0}), 32, parts.gradient(GradientId{1}), 16);
  CHECK(relative_difference(mean, whole.gradient(GradientId{0})) < 1e-5);
}

TEST_CASE("a pass holds every training sample once, also when a batch crosses its end") {
  // Two passes over 40 samples in batches of 32, 32, 16 = the gradient of all 40 samples, twice.
  NetworkLearner learner(job(40));
  const TrainAndTest data = generate_built_in_images(40, 1);
  std::vector<std::uint32_t> all(40);
  std::iota(all.begin(), all.end(), 0U);
  Batch first_pass;
  data.train.fill(first_pass, all);
  Network network("small-cnn", 10);
  std::ranges::copy(learner.global_parameters(), network.parameters().begin());
  network.forward_backward(first_pass);

  for (std::uint64_t i = 0; const std::int64_t batch : {32, 32, 16}) {
    learner.compute(first_worker, batch, GradientId{i++});
  }
  const std::vector<float> first_two =
      weighted_mean(learner.gradient(GradientId{0}), 32, learner.gradient(GradientId{1}), 32);
  CHECK(relative_difference(weighted_mean(first_two, 64, learner.gradient(GradientId{2}), 16),
                            network.gradient()) < 1e-5);
}

TEST_CASE("workers, passes and replications read the data in different orders") {
  NetworkLearner learner(job(64));
  for (std::uint64_t i = 0; i < 3; ++i) learner.compute(first_worker, 32, GradientId{i});
  learner.compute(second_worker, 32, GradientId{3});
  CHECK_FALSE(std::ranges::equal(learner.gradient(GradientId{0}), learner.gradient(GradientId{3})));
  // The third half-pass is the first one again only if the second pass kept the order.
  CHECK(relative_difference(learner.gradient(GradientId{2}), learner.gradient(GradientId{0})) > 1e-3);
}

TEST_CASE("two learners of one seed agree bit by bit, another replication differs") {
  std::vector<std::vector<float>> results;
  for (const std::uint32_t replication : {0U, 0U, 1U}) {
    NetworkLearnerConfig config = job();
    config.seed.replication = replication;
    NetworkLearner learner(config);
    learner.compute(first_worker, 32, GradientId{0});
    apply_one(learner, GradientId{0}, {.learning_rate = 0.1, .momentum = 0.9});
    results.push_back(copy(learner.global_parameters()));
  }
  CHECK(results[0] == results[1]);
  CHECK(results[0] != results[2]);
}

TEST_CASE("a network on three servers trains bit by bit like on one, with momentum at the workers too") {
  for (const MomentumPlace place : {MomentumPlace::server, MomentumPlace::workers}) {
    std::vector<std::vector<float>> results;
    for (const std::uint32_t servers : {1U, 3U}) {
      NetworkLearnerConfig config = job();
      config.momentum_at = place;
      config.server_count = servers;
      NetworkLearner learner(config);
      for (std::uint64_t i = 0; i < 3; ++i) {
        for (std::uint64_t s = 0; s < servers; ++s) learner.pull(first_worker, ServerId{s});
        learner.compute(first_worker, 8, GradientId{i});
        const WeightedGradient weighted{GradientId{i}, first_worker, 1.0};
        for (std::uint64_t s = servers; s-- > 0;)
          learner.apply(ServerId{s}, {&weighted, 1}, {.learning_rate = 0.05, .momentum = 0.9});
      }
      results.push_back(copy(learner.global_parameters()));
    }
    CHECK(results[0] == results[1]);
  }
}

TEST_CASE("training is bit-identical in another process") {
  for (const std::string network : {"small-cnn", "mlp", "resnet20"}) {
    CAPTURE(network);
    const std::string command = std::string(PACELINE_FINGERPRINT_PROGRAM) + " " + network;
    const std::unique_ptr<FILE, int (*)(FILE*)> pipe(popen(command.c_str(), "r"), pclose);
    REQUIRE(pipe != nullptr);
    unsigned long long other = 0;
    REQUIRE(std::fscanf(pipe.get(), "%llu", &other) == 1);
    CHECK(test::short_job_fingerprint(network.c_str()) == other);
  }
}

TEST_CASE("evaluation does not disturb training") {
  NetworkLearner quiet(job());
  NetworkLearner watched(job());
  for (std::uint64_t i = 0; i < 3; ++i) {
    for (NetworkLearner* learner : {&quiet, &watched}) {
      learner->pull(first_worker, ServerId{0});
      learner->compute(first_worker, 8, GradientId{i});
      apply_one(*learner, GradientId{i}, {.learning_rate = 0.05, .momentum = 0.9});
    }
    CHECK(watched.evaluate().has_value());
  }
  CHECK(std::ranges::equal(quiet.global_parameters(), watched.global_parameters()));
}

TEST_CASE("a diverged network evaluates to a loss that is not finite, without an exception") {
  NetworkLearner learner(job());
  for (std::uint64_t i = 0; i < 4; ++i) {
    learner.pull(first_worker, ServerId{0});
    learner.compute(first_worker, 8, GradientId{i});
    apply_one(learner, GradientId{i}, {.learning_rate = 1e30, .momentum = 0.9});
  }
  CHECK_FALSE(std::isfinite(learner.evaluate().value().loss));
}

TEST_CASE("a gradient is used once: again, unknown or recomputed is a programming error") {
  NetworkLearner learner(job());
  learner.compute(first_worker, 4, GradientId{0});
  CHECK_THROWS_AS(learner.compute(first_worker, 4, GradientId{0}), ProgrammingError);
  learner.discard(GradientId{0});
  CHECK_THROWS_AS(learner.discard(GradientId{0}), ProgrammingError);
  CHECK_THROWS_AS(apply_one(learner, GradientId{0}, {.learning_rate = 0.1}), ProgrammingError);
  learner.compute(first_worker, 4, GradientId{1});
  apply_one(learner, GradientId{1}, {.learning_rate = 0.1});
  CHECK_THROWS_AS(apply_one(learner, GradientId{1}, {.learning_rate = 0.1}), ProgrammingError);
  CHECK_THROWS_AS(learner.pull(WorkerId{2}, ServerId{0}), ProgrammingError);
}

TEST_CASE("a user's unknown network is refused with a suggestion") {
  NetworkLearnerConfig config = job();
  config.network = "smal-cnn";
  CHECK_THROWS_WITH_AS(NetworkLearner{config}, doctest::Contains("did you mean `small-cnn`?"), UserError);
}

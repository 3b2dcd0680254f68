#include <algorithm>
#include <array>
#include <cmath>
#include <vector>

#include <doctest/doctest.h>

#include "kernels/data/built_in_images.hpp"
#include "kernels/networks/network.hpp"
#include "kernels/training/network_learner.hpp"

using namespace paceline;
using namespace paceline::kernels;

namespace {

NetworkLearnerConfig resnet_job(BatchNormRule rule) {
  return {.network = "resnet20",
          .dataset = {.kind = "built-in-images", .path = "", .train_samples = 64, .test_samples = 20},
          .batch_norm = rule,
          .worker_count = 2,
          .seed = {.seed = 1, .replication = 0}};
}

// The loss after worker 1's gradient was applied at learning rate 0: only averages can have moved.
double loss_after_second_worker(BatchNormRule rule) {
  NetworkLearner learner(resnet_job(rule));
  learner.compute(WorkerId{1}, 8, GradientId{0});
  learner.apply(ServerId{0}, std::array{WeightedGradient{GradientId{0}, WorkerId{1}, 1.0}}, {});
  return learner.evaluate().value().loss;
}

}  // namespace

TEST_CASE("statistics of a batch, given back, normalize that batch as in training") {
  // The training loss uses the biased variance, the statistics hold the unbiased one: n/(n − 1) with at least
  // 16·64 values in each channel, 0.1 %.
  Network network("resnet20", 10);
  network.initialize(network.parameters(), {});
  const TrainAndTest data = generate_built_in_images(16, 1);
  std::vector<std::uint32_t> all(16);
  for (std::uint32_t i = 0; i < 16; ++i) all[i] = i;
  Batch batch;
  data.train.fill(batch, all);

  const double training_loss = network.forward_backward(batch);
  const std::vector<float> seen(network.batch_statistics().begin(), network.batch_statistics().end());
  // 16 channels in 7 layers, 32 in 6, 64 in 6; a mean and a variance for each
  CHECK(seen.size() == 2 * (16 * 7 + 32 * 6 + 64 * 6));
  CHECK(network.score(batch, seen).loss_sum / 16 == doctest::Approx(training_loss).epsilon(0.01));
  CHECK(network.score(batch).loss_sum / 16 == doctest::Approx(training_loss).epsilon(1e-6));
  const double with_initial = network.score(batch, network.initial_batch_statistics()).loss_sum / 16;
  CHECK(std::abs(with_initial - training_loss) > 0.05 * training_loss);
  // Evaluation leaves what training saw.
  CHECK(std::ranges::equal(seen, network.batch_statistics()));
}

TEST_CASE("a network without batch normalization has no statistics") {
  CHECK(Network("small-cnn", 10).batch_statistics().empty());
}

TEST_CASE("whose batches move the averages is the scenario's choice") {
  NetworkLearner untouched(resnet_job(BatchNormRule::chief));
  const double before = untouched.evaluate().value().loss;
  CHECK(loss_after_second_worker(BatchNormRule::chief) == before);
  const double per_push = loss_after_second_worker(BatchNormRule::per_push);
  const double averaged = loss_after_second_worker(BatchNormRule::averaged);
  CHECK(per_push != before);
  CHECK(averaged != before);
  CHECK(averaged != per_push);
}

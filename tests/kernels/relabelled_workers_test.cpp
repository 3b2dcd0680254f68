// A real network under a whole job whose workers stand in another order, with their random streams.
#include <algorithm>
#include <cmath>
#include <vector>

#include <doctest/doctest.h>

#include "kernels/training/network_learner.hpp"
#include "tests/kernels/relative_difference.hpp"
#include "tests/support/test_job.hpp"

using namespace paceline;
using paceline::test::relative_difference;

namespace {

// Four machines under jitter, those of `order`; the parameters they end with.
std::vector<float> trained(const char* policy, DataPartition partition,
                           const std::vector<std::uint32_t>& order, std::uint32_t first_stream = 0) {
  test::TestJob training;
  training.workers.clear();
  const std::vector<double> speeds{9.0, 8.0, 6.0, 25.0};
  for (const std::uint32_t w : order)
    training.workers.push_back({.speed = speeds[w], .random_stream = first_stream + w});
  training.phases = {{.policy = policy}};
  training.batching = {.controller = {"proportional-repair", {{"adjust_every", EveryIterations{2}}}},
                       .initial_samples = 8,
                       .maximum_samples = 100};
  training.optimizer.learning_rate = 0.01;
  training.jitter.iteration_cv = 0.1;
  training.total_samples = 320;
  NetworkLearnerConfig config{
      .network = "small-cnn",
      .dataset = {.kind = "built-in-images", .path = "", .train_samples = 100, .test_samples = 20},
      .seed = {.seed = 1, .replication = 0}};
  config.worker_count = static_cast<std::uint32_t>(order.size());
  config.random_streams = random_streams(training.workers);
  config.dataset.partition = partition;
  kernels::NetworkLearner learner(config);
  const auto result = training.run_ideal(learner);
  CHECK(result.recording.all<AdoptBatches>().size() > 1);
  return {learner.global_parameters().begin(), learner.global_parameters().end()};
}

}  // namespace

TEST_CASE("relabelling the workers together with their random streams trains the same network") {
  // Under ASP bit by bit, whatever the number of workers: a job of four under jitter, with the order of
  // everybody's data and the shards, if any. Under BSP the gradients are summed in the order of the places,
  // so that four workers agree to rounding only; of two, a + b = b + a.
  for (const DataPartition partition : {DataPartition::whole, DataPartition::equal_shards}) {
    const std::vector<float> asynchronous = trained("asp", partition, {0, 1, 2, 3});
    CHECK(asynchronous == trained("asp", partition, {2, 0, 3, 1}));
    CHECK(trained("bsp", partition, {0, 2}) == trained("bsp", partition, {2, 0}));
    const std::vector<float> synchronous = trained("bsp", partition, {0, 1, 2, 3});
    CHECK(relative_difference(trained("bsp", partition, {2, 0, 3, 1}), synchronous) < 1e-4);
    // The comparison notices another order of everybody's data.
    CHECK(relative_difference(asynchronous, trained("asp", partition, {0, 1, 2, 3}, 4)) > 1e-3);
  }
}

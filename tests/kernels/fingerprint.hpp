// A short deterministic training job, and one number that changes when any bit of its parameters does.
#pragma once

#include <cstdint>
#include <cstring>

#include "kernels/training/network_learner.hpp"

namespace paceline::test {

// FNV-1a over the bits of the parameters.
inline std::uint64_t fingerprint(std::span<const float> values) {
  std::uint64_t hash = 14695981039346656037ULL;
  for (const float value : values) {
    std::uint32_t bits = 0;
    std::memcpy(&bits, &value, sizeof bits);
    hash = (hash ^ bits) * 1099511628211ULL;
  }
  return hash;
}

// Two workers of unequal batches, one of them stale, ten updates.
inline std::uint64_t short_job_fingerprint(const char* network) {
  kernels::NetworkLearner learner(
      {.network = network,
       .dataset = {.kind = "built-in-images", .path = "", .train_samples = 100, .test_samples = 10},
       .weight_decay = 1e-3,
       .nesterov = true,
       .worker_count = 2,
       .seed = {.seed = 7, .replication = 3}});
  for (std::uint64_t update = 0; update < 10; ++update) {
    learner.pull(WorkerId{0}, ServerId{0});
    if (update % 3 == 0) learner.pull(WorkerId{1}, ServerId{0});
    learner.compute(WorkerId{0}, 48, GradientId{2 * update});
    learner.compute(WorkerId{1}, 5, GradientId{2 * update + 1});
    const WeightedGradient gradients[] = {{GradientId{2 * update}, WorkerId{0}, 0.75},
                                          {GradientId{2 * update + 1}, WorkerId{1}, 0.25}};
    learner.apply(ServerId{0}, gradients, {.learning_rate = 0.01, .momentum = 0.9});
  }
  return fingerprint(learner.global_parameters());
}

}  // namespace paceline::test

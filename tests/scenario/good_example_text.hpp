// A scenario file that uses every key but `expect` (expectations_test.cpp); other tests break it in one
// place.
#pragma once

#include <string_view>

namespace paceline::test {

inline constexpr std::string_view good_example =
    R"(# yaml-language-server: $schema=scenario.schema.json
name: quickstart-bsp
question: Which policy reaches 80 % first?
seed: 1
replications: 5
job:
  network: small-cnn
  profile: profiles/this.json
  dataset: {kind: built-in-images, train_samples: 8192, test_samples: 1000}
  optimizer: {learning_rate: 0.05, momentum: 0.9, weight_decay: 1e-4, )"
    R"(nesterov: false, worker_scaling: linear, batch_scaling: sqrt, )"
    R"(momentum_at: workers, velocity_at_switch: scale, velocity_scale: 0.125, batch_norm: per-push}
  learning_rate_schedule: {basis: epoch, milestones: [15, 18], factor: 0.2, warmup: 0.5}
cluster:
  workers: [{cores: 2}, {cores: 1}, {cores: 1, speed: 0.5}, {cores: 1, speed: 0.25}]
  network: {topology: star, bandwidth: 1 Gbit/s, latency: 50 us, server_bandwidth: 10 Gbit/s}
synchronization:
  - {policy: bsp, transport: ring, share: 25 %}
  - {policy: asp, transport: server, share: 75 %, switch_cost: 0.5 s}
batching:
  controller: dynamic
  initial: 32
  minimum: 8
  maximum: 256
  dead_band: 0.05
  smoothing: 0.2
  adjust_every: 10 iterations
  weighting: by-batch
jitter: {run: 1 %, worker: 0 %, iteration: 4 %}
learner: {kind: network}
evaluation: {every: 2048 samples, who_pays: free}
stop: {epochs: 20, accuracy: 0.80}
)";

}  // namespace paceline::test

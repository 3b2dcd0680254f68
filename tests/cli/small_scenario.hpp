// A job that takes milliseconds to simulate, for the program as a user runs it: two workers, one at half speed.
#pragma once

namespace paceline::test {

inline constexpr const char* small_scenario = R"(name: throughput
job:
  network: small-cnn
  profile: profile.json
  dataset: {kind: built-in-images, train_samples: 4096, test_samples: 100}
  optimizer: {learning_rate: 0.01}
cluster:
  workers: [{cores: 1}, {cores: 1, speed: 0.5}]
  network: {topology: star, bandwidth: 10 Gbit/s, latency: 50 us}
synchronization: [{policy: asp, transport: server}]
batching: {controller: uniform, initial: 32}
learner: {kind: none}
evaluation: {every: 1024 samples, who_pays: free}
stop: {epochs: 2}
)";

}  // namespace paceline::test

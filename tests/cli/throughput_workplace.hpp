// A folder with a profile, a scenario without learning and a study of two policies, to run paceline in.
#pragma once

#include <string>

#include "tests/cli/round_profile.hpp"
#include "tests/support/workplace.hpp"

namespace paceline::test {

inline const std::string throughput_profile = round_profile("small-cnn");

inline constexpr const char* throughput_scenario = R"(name: throughput
question: How fast?
replications: 4
job:
  network: small-cnn
  profile: profile.json
  dataset: {kind: built-in-images, train_samples: 4096, test_samples: 100}
  optimizer: {learning_rate: 0.01}
cluster:
  workers: [{cores: 1}, {cores: 1, speed: 0.5}]
  network: {topology: star, bandwidth: 10 Gbit/s, latency: 50 us}
synchronization: [{policy: asp, transport: server}]
batching: {controller: dynamic, initial: 32, minimum: 8, maximum: 128}
learner: {kind: none}
evaluation: {every: 1024 samples, who_pays: free}
stop: {epochs: 2}
)";

inline constexpr const char* throughput_study = R"(study: two
question: Which?
base: scenario.yaml
variants:
  - name: ASP
  - name: BSP
    set: {synchronization: [{policy: bsp, transport: ring}]}
)";

struct ThroughputWorkplace : Workplace {
  ThroughputWorkplace()
      : Workplace(PACELINE_PROGRAM, {{"profile.json", throughput_profile},
                                     {"scenario.yaml", throughput_scenario},
                                     {"study.yaml", throughput_study}}) {}
};

}  // namespace paceline::test

// Samples as a machine with known coefficients would give them.
#pragma once

#include <algorithm>
#include <cstdint>
#include <vector>

#include "calibrate/measure/sample.hpp"
#include "sim/base/random.hpp"

namespace paceline::calibrate {

struct SyntheticMachine {
  double intercept_s = 0.002;  // on 1 core; halved on 2
  double slope_s_per_sample = 0.0005;
  double knee_at_samples = 1e9;  // beyond every batch
  double extra_slope_s_per_sample = 0.0;
  double iteration_cv = 0.0;
  double run_cv = 0.0;      // of a pass, shared by its core counts
  double process_cv = 0.0;  // of a process
  int processes = 3;
  int iterations = 100;
  std::vector<std::int64_t> batches = {8, 16, 32, 64, 128};
  std::vector<int> cores = {1, 2};
  double server_accumulate_s = 1e-6;
  double server_step_s = 2e-6;
};

inline std::vector<Sample> synthetic_samples(const SyntheticMachine& machine, std::uint32_t seed = 1) {
  std::vector<Sample> samples;
  std::uint32_t stream = 0;
  const auto draw = [&](double cv) {
    return RandomStream({seed, 0}, Purpose::test, stream++).log_normal(1.0, cv);
  };
  for (int process = 0; process < machine.processes; ++process) {
    const double of_pass = draw(machine.run_cv);
    for (const int cores : machine.cores) {
      const double run_factor = of_pass * draw(machine.process_cv);
      for (const std::int64_t batch : machine.batches) {
        const double beyond = std::max(0.0, static_cast<double>(batch) - machine.knee_at_samples);
        const double mean = (machine.intercept_s + static_cast<double>(batch) * machine.slope_s_per_sample +
                             beyond * machine.extra_slope_s_per_sample) /
                            cores;
        Sample work{cores, batch, process, Operation::forward_backward, {}, {}};
        for (int i = 0; i < machine.iterations; ++i)
          work.seconds.push_back(mean * run_factor * draw(machine.iteration_cv));
        samples.push_back(work);
        samples.push_back({cores, batch, process, Operation::optimizer_step, {1e-4 / cores, 1e-4 / cores}});
      }
      if (cores != machine.cores.front()) continue;
      const std::int64_t batch = machine.batches.front();
      samples.push_back({cores, batch, process, Operation::server_accumulate, {machine.server_accumulate_s}});
      samples.push_back({cores, batch, process, Operation::server_step, {machine.server_step_s}});
    }
  }
  return samples;
}

}  // namespace paceline::calibrate

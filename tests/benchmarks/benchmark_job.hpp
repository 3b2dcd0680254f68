// The job all benchmarks run: equal workers that compute 0.2 s (5 % jitter) on batches of 128 samples, a
// network of 466,906 parameters (1.87 MB), links of 1 Gbit/s with 50 us, no learning.
#pragma once

#include <cstdint>

#include "tests/support/test_job.hpp"

namespace paceline::benchmarks {

inline constexpr std::int64_t batch_samples = 128;

[[nodiscard]] inline test::TestJob benchmark_job(std::size_t workers, std::int64_t worker_iterations,
                                                 const PhaseConfig& phase) {
  test::TestJob job;
  job.workers.assign(workers, Worker{});
  job.network = {.bandwidth = BytesPerSecond{125e6},
                 .latency = Seconds{50e-6},
                 .server_bandwidth = BytesPerSecond{125e6}};
  job.intercept = Seconds{0.0};
  job.slope_per_sample = Seconds{0.2 / static_cast<double>(batch_samples)};
  job.optimizer_step = Seconds{1e-3};
  job.server_rate = BytesPerSecond{3e9};
  job.parameter_bytes = Bytes{4.0 * 466'906};
  job.jitter = {.run_cv = 0.0, .worker_cv = 0.0, .iteration_cv = 0.05};
  job.batching.initial_samples = batch_samples;
  job.total_samples = worker_iterations * batch_samples;
  job.phases = {phase};
  return job;
}

}  // namespace paceline::benchmarks

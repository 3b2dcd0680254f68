// Runs something in a process of its own and tells what it took: SimGrid allows one simulation per process.
#pragma once

#include <functional>

namespace paceline::benchmarks {

struct Taken {
  double wall_s = 0.0;
  double processor_s = 0.0;  // user and system
  double peak_memory_mib = 0.0;
  double simulated_s = 0.0;  // what `job` returned
};

// Time and memory are those of the child; exits with a message when it fails.
[[nodiscard]] Taken run_in_child(const std::function<double()>& job);

}  // namespace paceline::benchmarks

// Batch controllers driven by hand: what machines are told of, and rounds of iterations with given times.
#pragma once

#include <cstdint>
#include <vector>

#include "sim/policy/batching/batch_controller.hpp"

namespace paceline::test {

inline std::vector<WorkerPrior> throughputs(const std::vector<double>& samples_per_s) {
  std::vector<WorkerPrior> workers;
  for (const double throughput : samples_per_s) workers.push_back({.throughput = throughput});
  return workers;
}

// Machines of which nothing is told but their number.
inline std::vector<WorkerPrior> machines(std::size_t count) {
  return std::vector<WorkerPrior>(count);
}

// Feeds rounds of iterations whose time is `time_s(worker, batch)` until `adjustments` changes happened, and
// returns the batches then in force. `rounds_allowed` bounds the search.
template <class Time>
Batches drive(BatchController& controller, const Time& time_s, int adjustments, int rounds_allowed = 1000) {
  Batches batches = batches_of(controller.initial());
  for (int round = 0; round < rounds_allowed && adjustments > 0; ++round) {
    const Batches in_force = batches;
    for (std::uint64_t w = 0; w < in_force.size(); ++w)
      if (auto changed = controller.on_iteration(WorkerId{w}, in_force[w], Seconds{time_s(w, in_force[w])})) {
        batches = batches_of(*changed);
        --adjustments;
      }
  }
  return batches;
}

}  // namespace paceline::test

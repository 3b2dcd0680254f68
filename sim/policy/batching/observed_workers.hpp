// What a controller that adjusts remembers of the workers: their batches in force and the times observed
// under them.
//
// Models:      an average iteration time for each worker since its batch last changed.
// Equation:    moving average t̄ ← t̄ + s·(t - t̄), s the weight of the newest time, 1 for the first; plain
//              mean where no such weight is given.
// Units:       seconds, samples.
// Assumptions: an iteration with another batch than the one in force was started before the last adjustment:
//              it tells nothing and is left out.
// Source:      OmniLearn, ACSOS 2020, section III (moving average), and its code (plain mean).
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "sim/policy/batching/batch_controller.hpp"

namespace paceline {

struct ObservedWorker {
  bool is_present = true;
  std::int64_t batch_samples = 0;
  double mean_time_s = 0.0;
  std::int64_t iterations = 0;             // in that mean
  std::int64_t iterations_since_look = 0;  // since the controller last looked

  [[nodiscard]] double throughput() const { return static_cast<double>(batch_samples) / mean_time_s; }
};

class ObservedWorkers {
 public:
  // `smoothing`: weight of the newest time; absent: a plain mean.
  ObservedWorkers(const Allocation& start, std::optional<double> smoothing);

  // False: the iteration belongs to an earlier batch.
  bool observe(WorkerId worker, std::int64_t batch_samples, Seconds compute_time);
  void set_present(WorkerId worker, bool is_present);
  // Every present worker was seen in so many iterations since the last look.
  [[nodiscard]] bool all_seen(std::int64_t iterations) const;
  void looked();
  // The batches in force change; their times begin anew.
  void adopt(const Allocation& allocation);

  [[nodiscard]] std::size_t size() const { return workers_.size(); }
  [[nodiscard]] const ObservedWorker& operator[](std::size_t worker) const { return workers_[worker]; }
  [[nodiscard]] std::int64_t present_count() const;
  // Mean over the present workers.
  [[nodiscard]] double mean_time_s() const;
  // The batches in force, wanted as they are.
  [[nodiscard]] Allocation unchanged() const;

 private:
  std::vector<ObservedWorker> workers_;
  std::optional<double> smoothing_;
};

// The largest |b' - b| / b.
[[nodiscard]] double largest_relative_change(const ObservedWorkers& workers, const Allocation& allocation);

}  // namespace paceline

// Who trains on how many samples: the rules that give each worker its mini-batch.
//
// Models:      uniform batches; one static allocation by throughput; the proportional controller as published.
// Equation:    uniform  b_k = b_0
//              static   b_k = K·b_0·X_k / Σ X_i     X_k: calibrated throughput (samples/s); rounded so that
//                       Σ b_k = K·b_0, then clamped to the bounds (which may change the sum)
//              dynamic  b_k' = b_k · t̄ / t_k        t_k: moving average of worker k's iteration times since the last
//                       adjustment, t̄ its mean over workers; then clamp to the bounds, then the dead-band:
//                       if max_k |b_k' - b_k| / b_k > dead_band every worker takes its b_k', otherwise nobody does.
//                       Learned bound: if a larger batch lowered a worker's throughput by more than the dead-band,
//                       its maximum becomes the batch before.
// Units:       samples, seconds, samples per second.
// Assumptions: dynamic starts from uniform batches (it is told nothing about the machines); b_k' is rounded to the
//              nearest sample; the sum of the batches is not kept; times are compute only, without communication.
//              Every worker must have finished `adjust_every_iterations` since the last look.
// Not modelled: memory limits, the cost of an adjustment, the controller as released (later capabilities).
// Source:      OmniLearn, ACSOS 2020, section III; smoothing constant is not published and is a parameter here.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <vector>

#include "sim/base/id.hpp"
#include "sim/base/quantity.hpp"
#include "sim/policy/batching.hpp"

namespace paceline {

using Batches = std::vector<std::int64_t>;  // samples, by worker

class BatchController {
 public:
  BatchController() = default;
  BatchController(const BatchController&) = delete;
  BatchController& operator=(const BatchController&) = delete;
  virtual ~BatchController() = default;

  [[nodiscard]] virtual Batches initial() const = 0;
  // `worker` computed `batch_samples` in `compute_time`. Returns the batches of all workers when they change.
  virtual std::optional<Batches> on_iteration(WorkerId worker, std::int64_t batch_samples,
                                              Seconds compute_time) = 0;
  // The worker is gone, or there (again): an adjustment does not wait for absent workers, and leaves their batch alone.
  virtual void on_leave(WorkerId) {}
  virtual void on_join(WorkerId) {}
};

// `calibrated_throughput`: samples/s of each worker at the initial batch, from its profile; used by static only.
[[nodiscard]] std::unique_ptr<BatchController> make_batch_controller(
    const BatchingConfig& config, std::span<const double> calibrated_throughput);

}  // namespace paceline

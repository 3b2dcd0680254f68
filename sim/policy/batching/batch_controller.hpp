// Who trains on how many samples: the interface of the rules that give each worker its mini-batch.
//
// Models:      batches at the start of a job, and how they follow observed iteration times.
// Equation:    each controller's, with its source, at the top of its file.
// Units:       samples, seconds, samples per second.
// Assumptions: a controller sees what a coordinator could: compute times as measured, which gradients were
//              applied, the epoch. Of the machines it knows only what is declared beforehand (WorkerPrior).
// Not modelled: batches that follow the network's time or the gradient noise.
//
// To add one: a file beside lb_bsp.cpp, its line in the list of batch_controller.cpp, a test.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string_view>
#include <vector>

#include "sim/base/id.hpp"
#include "sim/base/quantity.hpp"
#include "sim/policy/batching/batching.hpp"

namespace paceline {

using Batches = std::vector<std::int64_t>;  // samples, by worker

// What kept a batch from being what its rule wanted. `throughput`: a larger batch was slower before
// (learned).
enum class BatchLimit : std::uint8_t { none, minimum, maximum, memory, throughput };

[[nodiscard]] constexpr std::string_view to_string(BatchLimit limit) {
  constexpr std::string_view names[] = {"", "minimum", "maximum", "memory", "throughput"};
  return names[static_cast<std::size_t>(limit)];
}

struct WorkerBatch {
  std::int64_t samples = 0;
  double wanted_samples = 0.0;  // by the rule, before bounds and rounding
  BatchLimit limited_by = BatchLimit::none;
};
using Allocation = std::vector<WorkerBatch>;  // by worker

[[nodiscard]] Batches batches_of(const Allocation& allocation);

// What is declared of a machine before the job begins.
struct WorkerPrior {
  double throughput = 1.0;  // calibrated samples/s at the initial batch
  double cores = 1.0;
  double flops = 1.0;                            // peak flop/s, in any unit common to all workers
  std::optional<std::int64_t> memory_samples{};  // the largest batch its memory holds; absent: not known
};

class BatchController {
 public:
  BatchController() = default;
  BatchController(const BatchController&) = delete;
  BatchController& operator=(const BatchController&) = delete;
  virtual ~BatchController() = default;

  [[nodiscard]] virtual Allocation initial() const = 0;
  // A phase begins. Synchronous: its workers wait for each other in every update.
  virtual void begin_phase(bool /*is_synchronous*/) {}
  // What follows returns the batches of all workers when they change.
  //
  // `worker` computed `batch_samples` in `compute_time`.
  virtual std::optional<Allocation> on_iteration(WorkerId worker, std::int64_t batch_samples,
                                                 Seconds compute_time) = 0;
  // Gradients of `workers` were applied in one update, after which the job is at `epoch`.
  virtual std::optional<Allocation> on_update(std::span<const WorkerId> /*workers*/, double /*epoch*/) {
    return std::nullopt;
  }
  // The worker is gone, or there (again): an adjustment does not wait for absent workers, and leaves their
  // batch alone.
  virtual std::optional<Allocation> on_leave(WorkerId) { return std::nullopt; }
  virtual void on_join(WorkerId) {}
  // Whether `worker`, though free to go on, waits for the times of the others; asked again after every event.
  [[nodiscard]] virtual bool holds(WorkerId) const { return false; }
};

[[nodiscard]] std::unique_ptr<BatchController> make_batch_controller(const BatchingConfig& config,
                                                                     std::span<const WorkerPrior> workers);

}  // namespace paceline

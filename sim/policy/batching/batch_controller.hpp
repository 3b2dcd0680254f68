// Who trains on how many samples: the interface of the rules that give each worker its mini-batch, and what a
// scenario says about them.
//
// Models:      batches at the start of a job, and how they follow observed iteration times.
// Equation:    each controller's, with its source, at the top of its file.
// Units:       samples, seconds, samples per second.
// Assumptions: a controller sees what a coordinator could: compute times as measured, which gradients were
//              applied, the epoch. Of the machines it knows only what is declared beforehand (WorkerPrior).
// Not modelled: batches that follow the network's time or the gradient noise.
//
// A controller is one file beside lb_bsp.cpp: a class and a function that returns its rule. The function
// stands in the list of batch_controller.cpp; everything else follows from the rule.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string_view>
#include <variant>
#include <vector>

#include "sim/base/id.hpp"
#include "sim/base/quantity.hpp"
#include "sim/policy/parameters.hpp"

namespace paceline {

// How often a batch controller looks at the times.
struct EveryIterations {
  std::int64_t iterations = 10;  // of every worker
};
struct EveryEpochs {
  double epochs = 1.0;  // passes over the training samples, by samples applied
};
using AdjustmentPeriod = std::variant<EveryIterations, EveryEpochs>;
// "10 iterations", "1 epochs"
[[nodiscard]] Measured period();
[[nodiscard]] Plain plain_of(const AdjustmentPeriod& value);
void assign(AdjustmentPeriod& member, const Plain& value);

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

struct BatchingConfig;

// What there is to know about a controller before it runs.
struct BatchControllerRule {
  std::string_view word;
  std::string_view synonym{};  // a second word for the same
  std::string_view description;
  Parameters parameters{};
  // Batches change while the job runs.
  bool adjusts = false;
  // The sum of the batches stays what it was at the start, whatever the times.
  bool keeps_total = false;
  // Batches stay within `minimum` and `maximum`.
  bool is_bounded = true;
  // Batches are those of `shares` from the start on.
  bool uses_shares = false;
  // It is also defined where workers wait for some of the others.
  bool allows_partial_waiting = true;
  std::unique_ptr<BatchController> (*make)(const BatchingConfig& config,
                                           std::span<const WorkerPrior> workers) = nullptr;

  [[nodiscard]] static std::span<const BatchControllerRule> all();
};

using BatchControllerChoice = Chosen<BatchControllerRule>;

// How the gradients of one update are combined: by samples (each sample counts the same) or equally.
enum class GradientWeighting { by_batch, equal };
// What fixed shares of the global batch are proportional to: calibrated samples/s, cores, or declared flop/s.
enum class ShareBasis { throughput, cores, flops };
// What a controller that adjusts begins with: equal batches, or the fixed shares.
enum class StartBatches { uniform, shares };

struct BatchingConfig {
  BatchControllerChoice controller{};
  ShareBasis shares = ShareBasis::throughput;
  StartBatches start = StartBatches::uniform;
  std::int64_t initial_samples = 32;  // per worker; the global batch is this times the number of workers
  std::int64_t minimum_samples = 1;
  std::int64_t maximum_samples = 1024;
  Seconds adjustment_cost{};  // pause of every worker before it goes on with other batches
  // That a worker's first iteration with a new batch takes longer, at speed 1.
  std::optional<Seconds> preparation{};
  GradientWeighting weighting = GradientWeighting::by_batch;
};

[[nodiscard]] std::unique_ptr<BatchController> make_batch_controller(const BatchingConfig& config,
                                                                     std::span<const WorkerPrior> workers);

// For the rule of a controller constructed from its parameters besides.
template <class Controller, class Struct>
std::unique_ptr<BatchController> make_controller(const BatchingConfig& config,
                                                 std::span<const WorkerPrior> workers) {
  return std::make_unique<Controller>(config, workers, config.controller.parameters().template as<Struct>());
}

// The smallest and largest batch a worker may get, but for its memory.
struct BatchRange {
  std::int64_t smallest;
  std::int64_t largest;
};
[[nodiscard]] inline BatchRange possible_batches(const BatchingConfig& config) {
  if (config.controller->is_bounded) return {config.minimum_samples, config.maximum_samples};
  return {config.initial_samples, config.initial_samples};
}

}  // namespace paceline

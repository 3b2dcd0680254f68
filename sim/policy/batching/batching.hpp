// What a scenario says about batch sizes, and what there is to know about a batch controller before it runs.
//
// A controller is one file: a class behind BatchController (batch_controller.hpp) and a function that returns
// its rule. The function stands in the list of batch_controller.cpp; everything else follows from the rule.
#pragma once

#include <cstdint>
#include <memory>
#include <span>
#include <string_view>
#include <variant>

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

class BatchController;
struct BatchingConfig;
struct WorkerPrior;

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
  GradientWeighting weighting = GradientWeighting::by_batch;
};

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

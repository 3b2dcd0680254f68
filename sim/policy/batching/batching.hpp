// What a scenario says about batch sizes. The rules themselves: controllers/, by batch_rule.hpp.
#pragma once

#include <cstdint>
#include <optional>
#include <variant>

#include "sim/base/quantity.hpp"

namespace paceline {

enum class BatchControllerKind {
#define PACELINE_CONTROLLER(name) name,
#include "sim/policy/batching/controllers.inc"
#undef PACELINE_CONTROLLER
};
// How the gradients of one update are combined: by samples (each sample counts the same) or equally.
enum class GradientWeighting { by_batch, equal };
// What fixed shares of the global batch are proportional to: calibrated samples/s, cores, or declared flop/s.
enum class ShareBasis { throughput, cores, flops };
// What a controller that adjusts begins with: equal batches, or the fixed shares.
enum class StartBatches { uniform, shares };

// How often a controller looks at the times.
struct EveryIterations {
  std::int64_t iterations = 10;  // of every worker
};
struct EveryEpochs {
  double epochs = 1.0;  // passes over the training samples, by samples applied
};
using AdjustmentPeriod = std::variant<EveryIterations, EveryEpochs>;

struct BatchingConfig {
  BatchControllerKind controller = BatchControllerKind::uniform;
  ShareBasis shares = ShareBasis::throughput;
  StartBatches start = StartBatches::uniform;
  std::int64_t initial_samples = 32;  // per worker; the global batch is this times the number of workers
  std::int64_t minimum_samples = 1;   // bounds hold for all but uniform batches
  std::int64_t maximum_samples = 1024;
  std::optional<double>
      dead_band{};         // changes up to this fraction are left alone; absent: the controller's own
  double smoothing = 0.2;  // weight of the newest iteration time in the moving average
  std::optional<AdjustmentPeriod> adjust_every{};  // absent: the controller's own
  Seconds adjustment_cost{};  // pause of every worker before it goes on with other batches
  GradientWeighting weighting = GradientWeighting::by_batch;
};

}  // namespace paceline

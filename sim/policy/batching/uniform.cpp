// Uniform batches: b_k = b_0 for every worker, less where memory does not hold it.
#include "sim/policy/batching/apportion.hpp"
#include "sim/policy/batching/batch_rule.hpp"
#include "sim/policy/batching/fixed_batches.hpp"

namespace paceline {

BatchControllerRule uniform_controller() {
  return {.kind = BatchControllerKind::uniform,
          .word = "uniform",
          .synonym = "",
          .description = "equal batches",
          .keeps_total = true,
          .make = [](const BatchingConfig& config,
                     std::span<const WorkerPrior> workers) -> std::unique_ptr<BatchController> {
            return std::make_unique<FixedBatches>(equal_batches(config, workers));
          }};
}

}  // namespace paceline

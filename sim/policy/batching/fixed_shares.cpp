// Static allocation in one shot: b_k = K·b_0·X_k / Σ X_i, with X_k the calibrated samples/s, the cores or the declared
// flop/s of worker k; rounded and bounded so that Σ b_k = K·b_0 (apportion.hpp).
//
// Source: OmniLearn, ACSOS 2020, section III: cores on CPU clusters, half-precision FLOPS where CPUs and GPUs are mixed
// (printed without the factor K, which its text requires).
#include "sim/policy/batching/apportion.hpp"
#include "sim/policy/batching/batch_rule.hpp"
#include "sim/policy/batching/fixed_batches.hpp"

namespace paceline {

BatchControllerRule fixed_shares_controller() {
  return {.kind = BatchControllerKind::fixed_shares,
          .word = "static",
          .synonym = "",
          .description = "fixed shares of the global batch, by `shares`",
          .keeps_total = true,
          .make = [](const BatchingConfig& config,
                     std::span<const WorkerPrior> workers) -> std::unique_ptr<BatchController> {
            return std::make_unique<FixedBatches>(shared_batches(config, workers));
          }};
}

}  // namespace paceline

// Batches that never change: equal ones, and fixed shares of the global batch.
//
// Equation:    uniform: b_k = b_0 for every worker, less where memory does not hold it. static: b_k =
//              K·b_0·X_k / Σ X_i, with X_k the calibrated samples/s, the cores or the declared flop/s of
//              worker k; rounded and bounded so that Σ b_k = K·b_0 (apportion.hpp).
// Source:      static: OmniLearn, ACSOS 2020, section III: cores on CPU clusters, half-precision FLOPS where
//              CPUs and GPUs are mixed (printed without the factor K, which its text requires).
#include <utility>

#include "sim/policy/batching/apportion.hpp"

namespace paceline {
namespace {

class FixedBatches final : public BatchController {
 public:
  explicit FixedBatches(Allocation allocation) : allocation_(std::move(allocation)) {}
  Allocation initial() const override { return allocation_; }
  std::optional<Allocation> on_iteration(WorkerId, std::int64_t, Seconds) override { return std::nullopt; }

 private:
  Allocation allocation_;
};

template <Allocation (*allocate)(const BatchingConfig&, std::span<const WorkerPrior>)>
std::unique_ptr<BatchController> make_fixed(const BatchingConfig& config,
                                            std::span<const WorkerPrior> workers) {
  return std::make_unique<FixedBatches>(allocate(config, workers));
}

}  // namespace

BatchControllerRule uniform_controller() {
  return {.word = "uniform",
          .description = "equal batches",
          .keeps_total = true,
          .is_bounded = false,
          .make = make_fixed<equal_batches>};
}

BatchControllerRule static_controller() {
  return {.word = "static",
          .description = "fixed shares of the global batch, by `shares`",
          .keeps_total = true,
          .uses_shares = true,
          .make = make_fixed<shared_batches>};
}

}  // namespace paceline

#include "sim/policy/batching/batch_controller.hpp"

#include <array>

namespace paceline {

// One line for each controller here and in the list below.
BatchControllerRule uniform_controller();
BatchControllerRule static_controller();
BatchControllerRule omnilearn_paper_controller();
BatchControllerRule omnilearn_code_controller();
BatchControllerRule proportional_repair_controller();
BatchControllerRule lb_bsp_controller();

std::span<const BatchControllerRule> BatchControllerRule::all() {
  static const std::array rules{
      uniform_controller(),
      static_controller(),
      omnilearn_paper_controller(),
      omnilearn_code_controller(),
      proportional_repair_controller(),
      lb_bsp_controller(),
  };
  return rules;
}

std::unique_ptr<BatchController> make_batch_controller(const BatchingConfig& config,
                                                       std::span<const WorkerPrior> workers) {
  return config.controller->make(config, workers);
}

Measured period() {
  return Measured{{{Dimension::iterations, above(0)}, {Dimension::epochs, above(0)}}};
}

Plain plain_of(const AdjustmentPeriod& value) {
  if (const auto* every = std::get_if<EveryIterations>(&value))
    return Amount{Dimension::iterations, static_cast<double>(every->iterations)};
  return Amount{Dimension::epochs, std::get<EveryEpochs>(value).epochs};
}
void assign(AdjustmentPeriod& member, const Plain& value) {
  const Amount& amount = std::get<Amount>(value);
  if (amount.dimension == Dimension::iterations)
    member = EveryIterations{static_cast<std::int64_t>(amount.value)};
  else
    member = EveryEpochs{amount.value};
}

Batches batches_of(const Allocation& allocation) {
  Batches batches;
  for (const WorkerBatch& batch : allocation) batches.push_back(batch.samples);
  return batches;
}

}  // namespace paceline

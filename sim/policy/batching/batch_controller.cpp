#include "sim/policy/batching/batch_controller.hpp"

#include <array>

#include "sim/policy/batching/batch_rule.hpp"

namespace paceline {

Batches batches_of(const Allocation& allocation) {
  Batches batches;
  for (const WorkerBatch& batch : allocation) batches.push_back(batch.samples);
  return batches;
}

std::span<const BatchControllerRule> batch_controller_rules() {
  static const std::array rules{
#define PACELINE_CONTROLLER(name) name##_controller(),
#include "sim/policy/batching/controllers.inc"
#undef PACELINE_CONTROLLER
  };
  return rules;
}

const BatchControllerRule& rule_of(BatchControllerKind kind) {
  return batch_controller_rules()[static_cast<std::size_t>(kind)];
}

AdjustmentPeriod adjustment_period(const BatchingConfig& config) {
  return config.adjust_every.value_or(rule_of(config.controller).adjust_every);
}

double dead_band(const BatchingConfig& config) {
  return config.dead_band.value_or(rule_of(config.controller).dead_band);
}

std::unique_ptr<BatchController> make_batch_controller(const BatchingConfig& config,
                                                       std::span<const WorkerPrior> workers) {
  return rule_of(config.controller).make(config, workers);
}

}  // namespace paceline

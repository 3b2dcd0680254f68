// What there is to know about a batch controller before it runs: its words in scenarios, its defaults, its limits.
//
// A controller is one file in controllers/: a class behind BatchController (batch_controller.hpp) and a function
// `NAME_controller` that returns its description. `NAME` stands in one line of controllers.inc, from which the
// enumeration, the words a scenario accepts, their checks and the factory all follow.
#pragma once

#include <memory>
#include <span>
#include <string_view>

#include "sim/policy/batching/batch_controller.hpp"

namespace paceline {

struct BatchControllerRule {
  BatchControllerKind kind;
  std::string_view word;
  std::string_view synonym;  // a second word for the same; empty: none
  std::string_view description;
  // Batches change while the job runs; then it looks so often, and leaves changes up to so much alone.
  bool adjusts = false;
  AdjustmentPeriod adjust_every{};
  double dead_band = 0.0;
  bool uses_dead_band = false;
  bool uses_smoothing = false;
  // The sum of the batches stays what it was at the start, whatever the times.
  bool keeps_total = false;
  // It is defined where all workers wait for each other in every update, or nobody does.
  bool only_bsp_and_asp = false;
  bool only_at_epochs = false;
  std::unique_ptr<BatchController> (*make)(const BatchingConfig& config,
                                           std::span<const WorkerPrior> workers) = nullptr;
};

#define PACELINE_CONTROLLER(name) [[nodiscard]] BatchControllerRule name##_controller();
#include "sim/policy/batching/controllers.inc"
#undef PACELINE_CONTROLLER

// All of them, in the order of controllers.inc.
[[nodiscard]] std::span<const BatchControllerRule> batch_controller_rules();
[[nodiscard]] const BatchControllerRule& rule_of(BatchControllerKind kind);

// A scenario's own value, or the controller's.
[[nodiscard]] AdjustmentPeriod adjustment_period(const BatchingConfig& config);
[[nodiscard]] double dead_band(const BatchingConfig& config);

}  // namespace paceline

// Batches that never change.
#pragma once

#include <utility>

#include "sim/policy/batching/batch_controller.hpp"

namespace paceline {

class FixedBatches final : public BatchController {
 public:
  explicit FixedBatches(Allocation allocation) : allocation_(std::move(allocation)) {}
  Allocation initial() const override { return allocation_; }
  std::optional<Allocation> on_iteration(WorkerId, std::int64_t, Seconds) override { return std::nullopt; }

 private:
  Allocation allocation_;
};

}  // namespace paceline

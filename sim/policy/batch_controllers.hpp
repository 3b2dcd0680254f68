// The pieces behind make_batch_controller, apart so that each can be tested against its formula.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>

#include "sim/policy/batch_controller.hpp"

namespace paceline {

// Whole samples proportional to `shares` that sum to `total` (largest remainders; ties go to the lower index).
[[nodiscard]] Batches split_by_share(std::int64_t total, std::span<const double> shares);

[[nodiscard]] std::unique_ptr<BatchController> make_dynamic_batches(const BatchingConfig& config,
                                                                    std::size_t worker_count);

}  // namespace paceline

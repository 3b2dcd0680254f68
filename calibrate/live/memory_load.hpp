// Reads and writes more memory than caches near a core hold: as busy as a process that computes. It takes so
// much processor time of its thread, and longer where others take turns on its core.
#pragma once

#include <cmath>
#include <cstddef>
#include <vector>

#include "calibrate/live/live_clock.hpp"
#include "sim/base/quantity.hpp"

namespace paceline::live {

class MemoryLoad {
 public:
  void keep_busy(Seconds duration) {
    const std::int64_t until = processor_time_ns() + std::llround(1e9 * duration.value());
    constexpr std::size_t piece = 4096;
    for (std::size_t at = 0; processor_time_ns() < until; at = (at + piece) % memory_.size())
      for (std::size_t i = at; i < at + piece; ++i) memory_[i] = 0.5F * memory_[i] + 1.0F;
  }

 private:
  std::vector<float> memory_ = std::vector<float>(std::size_t{1} << 22U);
};

}  // namespace paceline::live

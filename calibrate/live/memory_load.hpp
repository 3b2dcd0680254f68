// As busy as a process that computes: it goes through more memory than caches near a core hold, and
// calculates with each part of it several times, as convolutions do. Without that two of them would slow
// each other as no two networks do. For so much processor time of its thread, or so much work: interrupts
// for others' messages count as processor time of whom they meet, and only work takes longer for them.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <vector>

#include "calibrate/live/live_clock.hpp"
#include "sim/base/quantity.hpp"

namespace paceline::live {

struct MemoryWork {
  std::uint64_t pieces = 0;
  Seconds undisturbed{};  // of processor time
};

class MemoryLoad {
 public:
  void keep_busy(Seconds duration) {
    const std::int64_t until = processor_time_ns() + std::llround(1e9 * duration.value());
    while (processor_time_ns() < until) carry_out({.pieces = 1});
  }
  void carry_out(MemoryWork work) {
    for (; work.pieces > 0; --work.pieces, at_ = (at_ + piece) % memory_.size())
      for (int time = 0; time < times_each; ++time)
        for (std::size_t i = at_; i < at_ + piece; ++i) memory_[i] = 0.5F * memory_[i] + 1.0F;
  }

 private:
  static constexpr std::size_t piece = 4096;
  static constexpr int times_each = 8;
  std::vector<float> memory_ = std::vector<float>(std::size_t{1} << 20U);
  std::size_t at_ = 0;
};

// What takes so much processor time where nothing disturbs it: of several tries the quickest one tells.
[[nodiscard]] inline MemoryWork memory_work_of(Seconds duration) {
  constexpr int tries = 20;
  constexpr std::uint64_t tried = 200;
  MemoryLoad load;
  std::int64_t least_ns = std::numeric_limits<std::int64_t>::max();
  for (int i = 0; i < tries; ++i) {
    const std::int64_t began_ns = processor_time_ns();
    load.carry_out({.pieces = tried});
    least_ns = std::min(least_ns, processor_time_ns() - began_ns);
  }
  const double pieces = 1e9 * duration.value() / static_cast<double>(least_ns) * static_cast<double>(tried);
  return {static_cast<std::uint64_t>(std::llround(pieces)), duration};
}

}  // namespace paceline::live

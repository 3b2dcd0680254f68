// The time of a live job: wall-clock time since its start, without the stretches in which it stood still.
#pragma once

#include <algorithm>
#include <chrono>
#include <cstdint>
#include <ctime>
#include <utility>
#include <vector>

#include "sim/base/quantity.hpp"

namespace paceline::live {

// Processor time of the calling thread.
[[nodiscard]] inline std::int64_t processor_time_ns() {
  timespec time{};
  clock_gettime(CLOCK_THREAD_CPUTIME_ID, &time);
  return std::int64_t{time.tv_sec} * 1'000'000'000 + time.tv_nsec;
}

class LiveClock {
 public:
  void start() { started_ns_ = monotonic_ns(); }
  [[nodiscard]] Seconds now() const {
    return seconds((halt_began_ns_ > 0 ? halt_began_ns_ : monotonic_ns()) - started_ns_ - halted_ns_);
  }
  void halt() { halt_began_ns_ = monotonic_ns(); }
  void resume() {
    const std::int64_t now = monotonic_ns();
    halted_ns_ += now - halt_began_ns_;
    halts_.emplace_back(std::exchange(halt_began_ns_, 0), now);
  }
  // Between two readings of this machine's monotonic clock, halts left out.
  [[nodiscard]] Seconds between(std::int64_t began_ns, std::int64_t ended_ns) const {
    std::int64_t passed = ended_ns - began_ns;
    for (auto halt = halts_.rbegin(); halt != halts_.rend() && halt->second > began_ns; ++halt)
      passed -= std::max<std::int64_t>(0, std::min(ended_ns, halt->second) - std::max(began_ns, halt->first));
    return seconds(passed);
  }
  [[nodiscard]] Seconds halted() const { return seconds(halted_ns_); }

  [[nodiscard]] static std::int64_t monotonic_ns() {
    return std::chrono::duration_cast<std::chrono::nanoseconds>(
               std::chrono::steady_clock::now().time_since_epoch())
        .count();
  }

 private:
  [[nodiscard]] static Seconds seconds(std::int64_t ns) { return Seconds{1e-9 * static_cast<double>(ns)}; }

  std::int64_t started_ns_ = 0;
  std::int64_t halted_ns_ = 0;
  std::int64_t halt_began_ns_ = 0;
  std::vector<std::pair<std::int64_t, std::int64_t>> halts_;
};

}  // namespace paceline::live

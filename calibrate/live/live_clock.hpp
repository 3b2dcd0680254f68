// The time of a live job: wall-clock time since its start.
#pragma once

#include <chrono>
#include <cstdint>
#include <ctime>

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
  [[nodiscard]] Seconds now() const { return between(started_ns_, monotonic_ns()); }
  // Two readings of this machine's monotonic clock.
  [[nodiscard]] static Seconds between(std::int64_t began_ns, std::int64_t ended_ns) {
    return Seconds{1e-9 * static_cast<double>(ended_ns - began_ns)};
  }

  [[nodiscard]] static std::int64_t monotonic_ns() {
    return std::chrono::duration_cast<std::chrono::nanoseconds>(
               std::chrono::steady_clock::now().time_since_epoch())
        .count();
  }

 private:
  std::int64_t started_ns_ = 0;
};

}  // namespace paceline::live

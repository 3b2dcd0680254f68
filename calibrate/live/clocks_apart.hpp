// How far another host's monotonic clock is behind this one's, by messages that say when they were written.
//
// Models:      two clocks whose distance changes slowly, and messages of which some are quick.
// Equation:    of a message that was written at t by the other clock and came at T by this one T - t, at most
//              what was told before and 1e-3 of the time since then.
// Units:       nanoseconds.
// Assumptions: a message cannot come before it is written, so what is told is too much by the quickest one's
//              way, never too little. Each clock is wrong by less than 500 millionths, the most by which NTP
//              corrects one.
// Source:      RFC 5905, section 11.3 (the bound).
#pragma once

#include <algorithm>
#include <cstdint>
#include <optional>

namespace paceline::live {

class ClocksApart {
 public:
  [[nodiscard]] std::int64_t ns(std::int64_t came_ns, std::int64_t written_ns) {
    constexpr std::int64_t one_in = 1000;
    std::int64_t apart_ns = came_ns - written_ns;
    if (last_) apart_ns = std::min(apart_ns, last_->apart_ns + (came_ns - last_->came_ns) / one_in);
    last_ = {came_ns, apart_ns};
    return apart_ns;
  }

 private:
  struct Told {
    std::int64_t came_ns;
    std::int64_t apart_ns;
  };
  std::optional<Told> last_;
};

}  // namespace paceline::live

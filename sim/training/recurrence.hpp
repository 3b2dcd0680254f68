// What happens again and again while a job runs: evaluations, checkpoints.
//
// Equation:    due when floor(done / amount) grew since one last looked, done = updates, samples applied, or
//              seconds; at most once each time, however many intervals were completed.
#pragma once

#include <cmath>
#include <cstdint>

#include "sim/base/quantity.hpp"

namespace paceline {

enum class EveryUnit { updates, samples, seconds };

struct Every {
  double amount = 1.0;
  EveryUnit unit = EveryUnit::updates;
};

// How far a job is.
struct Done {
  Seconds time;
  std::uint64_t updates = 0;
  std::int64_t samples = 0;
};

class Recurrence {
 public:
  explicit Recurrence(Every every) : every_(every) {}

  [[nodiscard]] bool due(const Done& done) {
    const double intervals = std::floor(amount(done) / every_.amount);
    const bool due = intervals > intervals_done_;
    intervals_done_ = intervals;
    return due;
  }

 private:
  [[nodiscard]] double amount(const Done& done) const {
    switch (every_.unit) {
      case EveryUnit::updates:
        return static_cast<double>(done.updates);
      case EveryUnit::samples:
        return static_cast<double>(done.samples);
      case EveryUnit::seconds:
        return done.time.value();
    }
    return 0.0;
  }

  Every every_;
  double intervals_done_ = 0.0;
};

}  // namespace paceline

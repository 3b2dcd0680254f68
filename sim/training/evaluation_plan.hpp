// When the parameters are evaluated.
//
// Models:      evaluation at version 0, after each update that completes another `every`, and at the end of the job.
// Equation:    due after an update when floor(done / every) grew, done = updates, or samples applied, by unit.
// Units:       updates or samples.
// Assumptions: at most one evaluation per update, however many intervals it completes.
#pragma once

#include <cmath>
#include <cstdint>

namespace paceline {

enum class EvaluationUnit { updates, samples };

struct EvaluationEvery {
  double amount = 1.0;
  EvaluationUnit unit = EvaluationUnit::updates;
};

class EvaluationPlan {
 public:
  explicit EvaluationPlan(EvaluationEvery every) : every_(every) {}

  // Call once after each update with the totals so far.
  [[nodiscard]] bool due_after(std::uint64_t updates, std::int64_t samples) {
    const double done =
        every_.unit == EvaluationUnit::updates ? static_cast<double>(updates) : static_cast<double>(samples);
    const double intervals = std::floor(done / every_.amount);
    const bool due = intervals > intervals_done_;
    intervals_done_ = intervals;
    return due;
  }

 private:
  EvaluationEvery every_;
  double intervals_done_ = 0.0;
};

}  // namespace paceline

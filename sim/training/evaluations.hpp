// What happens again and again while a job runs: evaluations, checkpoints; and what evaluations mean for it.
//
// Models:      evaluations that recur, of which several may be under way; a target accuracy that so many in a
//              row have to reach; divergence when a loss is not finite.
// Equation:    due when floor(done / amount) grew since one last looked, done = updates, samples applied, or
//              seconds; at most once each time, however many intervals were completed.
#pragma once

#include <cmath>
#include <cstdint>
#include <optional>
#include <vector>

#include "sim/training/action.hpp"
#include "sim/training/event.hpp"

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
    const double amount = every_.unit == EveryUnit::updates   ? static_cast<double>(done.updates)
                          : every_.unit == EveryUnit::samples ? static_cast<double>(done.samples)
                                                              : done.time.value();
    const double intervals = std::floor(amount / every_.amount);
    const bool due = intervals > intervals_done_;
    intervals_done_ = intervals;
    return due;
  }

 private:
  Every every_;
  double intervals_done_ = 0.0;
};

class Evaluations {
 public:
  Evaluations(Every every, std::optional<double> target_accuracy, std::size_t in_a_row)
      : recurrence_(every), target_accuracy_(target_accuracy), in_a_row_(in_a_row) {}

  [[nodiscard]] bool due(const Done& done) { return recurrence_.due(done); }
  [[nodiscard]] Evaluate begin(const Done& done) {
    last_ = done.updates;
    ++under_way_;
    return {done.updates, done.samples};
  }
  [[nodiscard]] bool has_evaluated(std::uint64_t updates) const { return last_ == updates; }
  [[nodiscard]] bool none_under_way() const { return under_way_ == 0; }

  // The end of the job, if this result is one.
  [[nodiscard]] std::optional<Stop> on_result(const Evaluated& event) {
    --under_way_;
    if (!event.evaluation) return std::nullopt;
    if (!std::isfinite(event.evaluation->loss)) return Stop{EndReason::diverged, std::nullopt};
    if (!target_accuracy_ || event.evaluation->accuracy < *target_accuracy_) {
      reached_after_.clear();
      return std::nullopt;
    }
    reached_after_.push_back(event.updates);
    if (reached_after_.size() < in_a_row_) return std::nullopt;
    return Stop{EndReason::target_reached, reached_after_.front()};
  }

 private:
  Recurrence recurrence_;
  std::optional<double> target_accuracy_;
  std::size_t in_a_row_;
  std::vector<std::uint64_t> reached_after_;  // updates, of the latest evaluations in a row
  std::uint64_t last_ = 0;
  int under_way_ = 0;
};

}  // namespace paceline

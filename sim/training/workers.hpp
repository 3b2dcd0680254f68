// What the coordinator knows of its workers.
#pragma once

#include <algorithm>
#include <cstdint>
#include <deque>
#include <functional>
#include <optional>
#include <string_view>
#include <utility>
#include <vector>

#include <boost/container/small_vector.hpp>

#include "sim/base/id.hpp"
#include "sim/training/action.hpp"

namespace paceline {

// Of the shards, by server: of one server they need no memory of their own.
using Versions = boost::container::small_vector<std::uint64_t, 1>;

enum class WorkerStatus {
  away,
  dropped,
  idle,
  pausing,
  receiving,
  computing,
  stepping,
  sending,
  waiting_for_update
};

// As in "worker 3 ...".
[[nodiscard]] constexpr std::string_view to_string(WorkerStatus status) {
  constexpr std::string_view texts[] = {
      "is not there",
      "was dropped for straggling",
      "is idle: it waits for the next round, or nothing is left to hand out",
      "waits for the end of its pause",
      "waits for parameters",
      "waits for its own computation",
      "waits for its own optimizer step",
      "waits for its gradient to reach every server",
      "waits for an update"};
  return texts[static_cast<std::size_t>(status)];
}

// What holds a worker up before its next iteration, in the order in which it happens.
class PauseQueue {
 public:
  void add(PauseKind kind) { queue_.push_back(kind); }
  void add_first(PauseKind kind) { queue_.push_front(kind); }
  // Due at the next release: one pause for any number of adjustments, one for each evaluation.
  void owe_adjustment() { adjustment_owed_ = true; }
  void owe_evaluation() { ++evaluations_owed_; }
  // The worker is released: what it owes joins the queue.
  void settle() {
    if (std::exchange(adjustment_owed_, false)) add(PauseKind::adjustment);
    for (; evaluations_owed_ > 0; --evaluations_owed_) add(PauseKind::evaluation);
  }

  [[nodiscard]] std::optional<PauseKind> next() const {
    return queue_.empty() ? std::nullopt : std::optional(queue_.front());
  }
  void end_next() { queue_.pop_front(); }
  // Its iteration is called off; what it owes it still owes.
  void clear() { queue_.clear(); }

 private:
  std::deque<PauseKind> queue_;
  std::size_t evaluations_owed_ = 0;
  bool adjustment_owed_ = false;
};

// One iteration, from its release to its end.
struct IterationState {
  GradientId gradient;
  std::int64_t batch_samples = 0;  // of one step
  std::int64_t local_steps = 1;
  std::int64_t overlapped_steps = 0;          // of these, while the difference travels
  bool is_training_on = false;                // takes them now
  bool is_probe = false;                      // of a dropped worker: its gradient is for nobody
  bool gradient_is_held = false;              // by the learner: computed, neither applied nor discarded
  std::optional<Hyperparameters> own_step{};  // on the worker's own copy, as it knew them when it went on
  std::optional<UpdateId> update{};           // once some server has decided to combine the gradient

  [[nodiscard]] std::int64_t samples() const { return batch_samples * local_steps; }
};

struct WorkerState {
  WorkerStatus status = WorkerStatus::idle;
  bool needs_parameters = false;          // has joined and holds none
  bool holds_present_parameters = false;  // a phase begins
  bool is_outside_round = false;          // has joined when no work was left to hand out
  bool is_dropped = false;                // by the switch policy; still there, and may be probed
  Versions pulled_versions;
  double pulled_epoch = 0.0;                 // when it last pulled
  std::uint64_t iterations = 0;              // started so far
  std::uint64_t iterations_since_start = 0;  // or since the last restart
  std::optional<double> seconds_per_step;    // of its latest iteration
  std::size_t parts_awaited = 0;             // shards still on their way, to it or from it
  Seconds own_time;                          // of its present iteration: computing and transfers, no waiting
  Seconds transfer_began;
  PauseQueue pauses;
  std::optional<IterationState> iteration;  // absent when it has none: idle, away, or called off

  [[nodiscard]] bool is_present() const { return status != WorkerStatus::away; }
  [[nodiscard]] bool is_member() const { return is_present() && !is_dropped; }
  // An answer about another gradient is about something called off.
  [[nodiscard]] bool works_on(GradientId gradient) const {
    return iteration.has_value() && iteration->gradient == gradient;
  }
};

class Workers {
 public:
  explicit Workers(std::size_t count) : states_(count) {}

  [[nodiscard]] std::size_t size() const { return states_.size(); }
  [[nodiscard]] WorkerState& operator[](WorkerId id) { return states_.at(id.value); }
  [[nodiscard]] const WorkerState& operator[](WorkerId id) const { return states_.at(id.value); }
  [[nodiscard]] auto begin() const { return states_.begin(); }
  [[nodiscard]] auto end() const { return states_.end(); }

  [[nodiscard]] bool none_present() const { return std::ranges::none_of(states_, &WorkerState::is_present); }
  [[nodiscard]] std::vector<WorkerId> present() const { return where(&WorkerState::is_present); }
  // Those who take part: present and not dropped.
  [[nodiscard]] std::vector<WorkerId> members() const { return where(&WorkerState::is_member); }
  // The lowest of them.
  [[nodiscard]] std::optional<WorkerId> chief() const {
    const auto found = std::ranges::find_if(states_, &WorkerState::is_member);
    if (found == states_.end()) return std::nullopt;
    return WorkerId{static_cast<std::uint64_t>(found - states_.begin())};
  }
  [[nodiscard]] std::vector<WorkerId> dropped() const { return where(&WorkerState::is_dropped); }

 private:
  template <class Property>
  [[nodiscard]] std::vector<WorkerId> where(Property property) const {
    std::vector<WorkerId> found;
    for (std::uint64_t w = 0; w < states_.size(); ++w)
      if (std::invoke(property, states_[w])) found.push_back(WorkerId{w});
    return found;
  }

  std::vector<WorkerState> states_;
};

}  // namespace paceline

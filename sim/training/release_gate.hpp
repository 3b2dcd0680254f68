// Workers that could go on but for one thing: a server that has not let them go yet, work that is not there, or a batch
// controller that holds them.
#pragma once

#include <cstddef>
#include <utility>
#include <vector>

#include "sim/base/id.hpp"
#include "sim/policy/batching/batch_controller.hpp"

namespace paceline {

class ReleaseGate {
 public:
  explicit ReleaseGate(std::size_t workers) : let_go_by_(workers, 0) {}

  // One of `deciders` servers lets these go on; returns those of whom it was the last one.
  [[nodiscard]] std::vector<WorkerId> let_go(const std::vector<WorkerId>& workers, std::size_t deciders);

  // Nothing is left to hand out to these.
  void refuse(const std::vector<WorkerId>& workers);
  [[nodiscard]] bool has_refused() const { return !refused_.empty(); }
  [[nodiscard]] const std::vector<WorkerId>& refused() const { return refused_; }
  // Those that were refused, in that order, ask again ...
  [[nodiscard]] std::vector<WorkerId> take_refused() { return std::exchange(refused_, {}); }
  // ... or take part in a round with these: ascending, each once.
  [[nodiscard]] std::vector<WorkerId> take_refused_with(std::vector<WorkerId> workers);

  void hold(WorkerId worker) { held_.push_back(worker); }
  [[nodiscard]] bool has_held() const { return !held_.empty(); }
  // Those whom the batch controller lets go by now.
  [[nodiscard]] std::vector<WorkerId> take_free(const BatchController& controller);

  // The worker is gone.
  void forget(WorkerId worker);
  // Everybody is released anew.
  void forget_refused() { refused_.clear(); }
  void begin_phase();

 private:
  std::vector<std::size_t> let_go_by_;  // servers, by worker
  std::vector<WorkerId> refused_;
  std::vector<WorkerId> held_;
};

}  // namespace paceline

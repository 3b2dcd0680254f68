// Workers that could go on but for one thing: a server that has not let them go yet, work that is not there,
// or a batch controller that holds them.
#pragma once

#include <algorithm>
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
  [[nodiscard]] std::vector<WorkerId> let_go(const std::vector<WorkerId>& workers, std::size_t deciders) {
    std::vector<WorkerId> free;
    for (const WorkerId worker : workers) {
      std::size_t& let_go_by = let_go_by_.at(worker.value);
      if (++let_go_by < deciders) continue;
      let_go_by = 0;
      free.push_back(worker);
    }
    return free;
  }

  // Nothing is left to hand out to these.
  void refuse(const std::vector<WorkerId>& workers) {
    refused_.insert(refused_.end(), workers.begin(), workers.end());
  }
  [[nodiscard]] const std::vector<WorkerId>& refused() const { return refused_; }
  // Those that were refused, in that order, ask again ...
  [[nodiscard]] std::vector<WorkerId> take_refused() { return std::exchange(refused_, {}); }
  // ... or take part in a round with these: ascending, each once.
  [[nodiscard]] std::vector<WorkerId> take_refused_with(std::vector<WorkerId> workers) {
    workers.insert(workers.end(), refused_.begin(), refused_.end());
    refused_.clear();
    std::ranges::sort(workers);
    workers.erase(std::ranges::unique(workers).begin(), workers.end());
    return workers;
  }
  // Everybody is released anew.
  void forget_refused() { refused_.clear(); }

  void hold(WorkerId worker) { held_.push_back(worker); }
  [[nodiscard]] bool has_held() const { return !held_.empty(); }
  // Those whom the batch controller lets go by now.
  [[nodiscard]] std::vector<WorkerId> take_free(const BatchController& controller) {
    const auto still_held = [&](WorkerId id) { return controller.holds(id); };
    const auto free = std::stable_partition(held_.begin(), held_.end(), still_held);
    std::vector<WorkerId> workers(free, held_.end());
    held_.erase(free, held_.end());
    return workers;
  }

  // The worker is gone.
  void forget(WorkerId worker) {
    std::erase(refused_, worker);
    std::erase(held_, worker);
    let_go_by_.at(worker.value) = 0;
  }
  void begin_phase() {
    std::ranges::fill(let_go_by_, 0);
    refused_.clear();
    held_.clear();
  }

 private:
  std::vector<std::size_t> let_go_by_;  // servers, by worker
  std::vector<WorkerId> refused_;
  std::vector<WorkerId> held_;
};

}  // namespace paceline

#include "sim/training/release_gate.hpp"

#include <algorithm>

namespace paceline {

std::vector<WorkerId> ReleaseGate::let_go(const std::vector<WorkerId>& workers, std::size_t deciders) {
  std::vector<WorkerId> free;
  for (const WorkerId worker : workers) {
    std::size_t& let_go_by = let_go_by_.at(worker.value);
    if (++let_go_by < deciders) continue;
    let_go_by = 0;
    free.push_back(worker);
  }
  return free;
}

void ReleaseGate::refuse(const std::vector<WorkerId>& workers) {
  refused_.insert(refused_.end(), workers.begin(), workers.end());
}

std::vector<WorkerId> ReleaseGate::take_refused_with(std::vector<WorkerId> workers) {
  workers.insert(workers.end(), refused_.begin(), refused_.end());
  refused_.clear();
  std::ranges::sort(workers);
  workers.erase(std::ranges::unique(workers).begin(), workers.end());
  return workers;
}

std::vector<WorkerId> ReleaseGate::take_free(const BatchController& controller) {
  const auto still_held = [&](WorkerId id) { return controller.holds(id); };
  const auto free = std::stable_partition(held_.begin(), held_.end(), still_held);
  std::vector<WorkerId> workers(free, held_.end());
  held_.erase(free, held_.end());
  return workers;
}

void ReleaseGate::forget(WorkerId worker) {
  std::erase(refused_, worker);
  std::erase(held_, worker);
  let_go_by_.at(worker.value) = 0;
}

void ReleaseGate::begin_phase() {
  refused_.clear();
  held_.clear();
}

}  // namespace paceline

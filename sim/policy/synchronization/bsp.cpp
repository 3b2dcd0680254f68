// Bulk synchronous parallel: a round ends when every member's gradient is ready; they form one update.
#include <cstddef>
#include <vector>

#include "sim/policy/synchronization/synchronization.hpp"

namespace paceline {
namespace {

// Flags by worker: a round is thousands of changes, and asked for as a list once.
class WorkerSet {
 public:
  // Whether that changed anything.
  bool insert(WorkerId worker) {
    if (worker.value >= is_in_.size()) is_in_.resize(worker.value + 1, false);
    if (is_in_[worker.value]) return false;
    is_in_[worker.value] = true;
    ++count_;
    return true;
  }
  bool erase(WorkerId worker) {
    if (worker.value >= is_in_.size() || !is_in_[worker.value]) return false;
    is_in_[worker.value] = false;
    --count_;
    return true;
  }
  [[nodiscard]] std::size_t count() const { return count_; }
  [[nodiscard]] bool empty() const { return count_ == 0; }
  [[nodiscard]] std::vector<WorkerId> ascending() const {
    std::vector<WorkerId> workers;
    workers.reserve(count_);
    for (std::uint64_t w = 0; w < is_in_.size(); ++w)
      if (is_in_[w]) workers.push_back(WorkerId{w});
    return workers;
  }

 private:
  std::vector<bool> is_in_;
  std::size_t count_ = 0;
};

class Bsp final : public SynchronizationPolicy {
 public:
  bool is_synchronous() const override { return true; }
  std::size_t gradients_per_update() const override { return members_.count(); }

  void begin(std::span<const WorkerId> members) override {
    members_ = {};
    for (const WorkerId member : members) members_.insert(member);
    computing_ = members_;
    ready_ = {};
  }

  SynchronizationDecision on_gradient(WorkerId worker, Seconds) override {
    check(ready_.insert(worker), "a worker's gradient is ready twice in one BSP round");
    computing_.erase(worker);
    return end_round_if_complete();
  }

  SynchronizationDecision on_leave(WorkerId worker, Seconds) override {
    members_.erase(worker);
    const bool computed = computing_.erase(worker);
    const bool was_ready = ready_.erase(worker);
    // A round that everybody has left begins anew with those who joined while it lasted.
    if ((computed || was_ready) && computing_.empty() && ready_.empty()) {
      computing_ = members_;
      return {.release = members_.ascending()};
    }
    return end_round_if_complete();
  }

  // The newcomer takes part from the next round on; at once when there is no round.
  SynchronizationDecision on_join(WorkerId worker, Seconds) override {
    members_.insert(worker);
    if (!computing_.empty() || !ready_.empty()) return {};
    computing_ = {};
    computing_.insert(worker);
    return {.release = {worker}};
  }

 private:
  SynchronizationDecision end_round_if_complete() {
    if (!computing_.empty() || ready_.empty()) return {};
    SynchronizationDecision decision{.combine = ready_.ascending(), .release = members_.ascending()};
    ready_ = {};
    computing_ = members_;
    return decision;
  }

  WorkerSet members_;
  WorkerSet computing_;  // whose gradient this round waits for
  WorkerSet ready_;      // whose gradients it holds
};

}  // namespace

SynchronizationRule bsp_rule() {
  return {.word = "bsp",
          .description = "an update combines one gradient of every worker",
          .waits_for = WaitsFor::all,
          .decides_alike_on_every_server = true,
          .make = make_policy<Bsp>};
}

}  // namespace paceline

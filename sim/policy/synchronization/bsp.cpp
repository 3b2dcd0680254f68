// Bulk synchronous parallel: a round ends when every member's gradient is ready; they form one update.
#include <set>

#include "sim/policy/synchronization/synchronization.hpp"

namespace paceline {
namespace {

class Bsp final : public SynchronizationPolicy {
 public:
  bool is_synchronous() const override { return true; }
  std::size_t gradients_per_update() const override { return members_.size(); }

  void begin(std::span<const WorkerId> members) override {
    members_ = {members.begin(), members.end()};
    computing_ = members_;
    ready_.clear();
  }

  SynchronizationDecision on_gradient(WorkerId worker, Seconds) override {
    check(ready_.insert(worker).second, "a worker's gradient is ready twice in one BSP round");
    computing_.erase(worker);
    return end_round_if_complete();
  }

  SynchronizationDecision on_leave(WorkerId worker, Seconds) override {
    members_.erase(worker);
    const bool took_part = computing_.erase(worker) + ready_.erase(worker) > 0;
    // A round that everybody has left begins anew with those who joined while it lasted.
    if (took_part && computing_.empty() && ready_.empty()) {
      computing_ = members_;
      return {.release = {members_.begin(), members_.end()}};
    }
    return end_round_if_complete();
  }

  // The newcomer takes part from the next round on; at once when there is no round.
  SynchronizationDecision on_join(WorkerId worker, Seconds) override {
    members_.insert(worker);
    if (!computing_.empty() || !ready_.empty()) return {};
    computing_ = {worker};
    return {.release = {worker}};
  }

 private:
  SynchronizationDecision end_round_if_complete() {
    if (!computing_.empty() || ready_.empty()) return {};
    SynchronizationDecision decision{.combine = {ready_.begin(), ready_.end()},
                                     .release = {members_.begin(), members_.end()}};
    ready_.clear();
    computing_ = members_;
    return decision;
  }

  std::set<WorkerId> members_;
  std::set<WorkerId> computing_;  // whose gradient this round waits for
  std::set<WorkerId> ready_;      // whose gradients it holds
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

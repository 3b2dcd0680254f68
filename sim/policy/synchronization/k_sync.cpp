// K-sync: an update combines the first K gradients of a round, and the rest of the round is called off.
//
// Equation:    a round of W workers lasts as long as the K-th of their W times, K = `gradients`; all W start
//              over together on the new parameters.
// Source:      Dutta et al., "Slow and Stale Gradients Can Win the Race", AISTATS 2018.
#include <algorithm>
#include <iterator>
#include <set>

#include <fmt/format.h>

#include "sim/policy/synchronization/synchronization.hpp"

namespace paceline {
namespace {

struct KSyncParameters {
  std::int64_t gradients = 1;
};
void describe(Visitor& v, KSyncParameters& p) {
  v.required("gradients", p.gradients, Whole{1}, "combined in an update");
}

class KSync final : public SynchronizationPolicy {
 public:
  explicit KSync(std::size_t gradients) : gradients_(gradients) {}

  bool is_synchronous() const override { return true; }
  std::size_t gradients_per_update() const override { return std::min(gradients_, members_.size()); }

  void begin(std::span<const WorkerId> members) override {
    members_ = {members.begin(), members.end()};
    ready_.clear();
  }

  SynchronizationDecision on_gradient(WorkerId worker, Seconds) override {
    check(ready_.insert(worker).second, "a worker's gradient is ready twice in one round");
    return end_round_if_complete();
  }

  SynchronizationDecision on_leave(WorkerId worker, Seconds) override {
    members_.erase(worker);
    ready_.erase(worker);
    return end_round_if_complete();
  }

  SynchronizationDecision on_join(WorkerId worker, Seconds) override {
    members_.insert(worker);
    return {.combine = {}, .drop = {}, .release = {worker}};
  }

 private:
  SynchronizationDecision end_round_if_complete() {
    if (ready_.empty() || ready_.size() < gradients_per_update()) return {};
    SynchronizationDecision decision{
        .combine = {ready_.begin(), ready_.end()}, .drop = {}, .release = {members_.begin(), members_.end()}};
    std::ranges::set_difference(members_, ready_, std::back_inserter(decision.drop));
    ready_.clear();
    return decision;
  }

  std::size_t gradients_;
  std::set<WorkerId> members_;
  std::set<WorkerId> ready_;
};

}  // namespace

SynchronizationRule k_sync_rule() {
  return {
      .word = "k-sync",
      .description = "the first `gradients` of a round, the others are called off",
      .parameters = Parameters::of<KSyncParameters>(),
      .complaint = [](const Parameters& parameters, std::int64_t workers) -> std::optional<Complaint> {
        if (parameters.as<KSyncParameters>().gradients <= workers) return std::nullopt;
        return Complaint{"gradients", fmt::format("there are only {} workers", workers)};
      },
      .make = [](const Parameters& parameters) -> std::unique_ptr<SynchronizationPolicy> {
        return std::make_unique<KSync>(static_cast<std::size_t>(parameters.as<KSyncParameters>().gradients));
      }};
}

}  // namespace paceline

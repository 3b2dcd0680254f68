// K-sync and backup workers: an update takes the first gradients of a round and does not wait for the rest.
#include <algorithm>
#include <set>
#include <string>

#include <fmt/format.h>

#include "sim/base/check.hpp"
#include "sim/policy/synchronization/synchronization.hpp"
#include "sim/policy/synchronization/synchronization_rule.hpp"

namespace paceline {
namespace {

// What happens to workers whose gradient came too late for its round.
enum class Late {
  called_off,  // at once, when the round ends: they start over with the others
  dropped      // when their gradient is ready: until then they work in vain
};

class FirstGradients final : public SynchronizationPolicy {
 public:
  FirstGradients(std::size_t gradients, std::size_t backups, Late late)
      : gradients_(gradients), backups_(backups), late_rule_(late) {}

  bool is_synchronous() const override { return true; }
  std::size_t gradients_per_update() const override { return wanted(); }

  void begin(std::span<const WorkerId> members) override {
    members_ = {members.begin(), members.end()};
    ready_.clear();
    late_.clear();
  }

  SynchronizationDecision on_gradient(WorkerId worker, Seconds) override {
    if (late_.erase(worker) == 1) return {.combine = {}, .drop = {worker}, .release = {worker}};
    check(ready_.insert(worker).second, "a worker's gradient is ready twice in one round");
    return end_round_if_complete();
  }

  SynchronizationDecision on_leave(WorkerId worker, Seconds) override {
    members_.erase(worker);
    late_.erase(worker);
    ready_.erase(worker);
    return end_round_if_complete();
  }

  SynchronizationDecision on_join(WorkerId worker, Seconds) override {
    members_.insert(worker);
    return {.combine = {}, .drop = {}, .release = {worker}};
  }

 private:
  // With `gradients_` = 0: all members but the backups.
  [[nodiscard]] std::size_t wanted() const {
    const std::size_t members = members_.size();
    if (gradients_ > 0) return std::min(gradients_, members);
    return members > backups_ ? members - backups_ : std::min<std::size_t>(members, 1);
  }

  SynchronizationDecision end_round_if_complete() {
    if (ready_.empty() || ready_.size() < wanted()) return {};
    SynchronizationDecision decision;
    decision.combine = {ready_.begin(), ready_.end()};
    for (const WorkerId member : members_) {
      const bool contributed = ready_.contains(member);
      const bool called_off = !contributed && late_rule_ == Late::called_off;
      if (called_off) decision.drop.push_back(member);
      if (contributed || called_off) decision.release.push_back(member);
      if (!contributed && !called_off) late_.insert(member);
    }
    ready_.clear();
    return decision;
  }

  std::size_t gradients_;
  std::size_t backups_;
  Late late_rule_;
  std::set<WorkerId> members_;
  std::set<WorkerId> ready_;
  std::set<WorkerId> late_;  // computing for a round that is over
};

}  // namespace

SynchronizationRule k_sync_rule() {
  return {
      .kind = SynchronizationKind::k_sync,
      .word = "k-sync",
      .description = "the first `gradients` of a round, the others are called off",
      .parameter = RuleParameter{.key = "gradients",
                                 .description = "combined in an update",
                                 .minimum = 1,
                                 .complaint =
                                     [](std::int64_t gradients, std::int64_t workers) {
                                       return gradients > workers
                                                  ? fmt::format("there are only {} workers", workers)
                                                  : std::string();
                                     }},
      .combines_all_members = false,
      .decides_alike_on_every_server = false,
      .may_exchange_parameters = false,
      .gradients_per_update = [](double, std::int64_t gradients) { return static_cast<double>(gradients); },
      .make = [](std::int64_t gradients) -> std::unique_ptr<SynchronizationPolicy> {
        check(gradients > 0, "K-sync waits for at least one gradient");
        return std::make_unique<FirstGradients>(static_cast<std::size_t>(gradients), 0, Late::called_off);
      }};
}

SynchronizationRule backup_workers_rule() {
  return {.kind = SynchronizationKind::backup_workers,
          .word = "backup-workers",
          .description = "all but the `backups` last of a round, which are dropped when they come",
          .parameter = RuleParameter{.key = "backups",
                                     .description = "not waited for",
                                     .minimum = 0,
                                     .complaint =
                                         [](std::int64_t backups, std::int64_t workers) {
                                           return backups >= workers
                                                      ? fmt::format("of {} workers at least one must count",
                                                                    workers)
                                                      : std::string();
                                         }},
          .combines_all_members = false,
          .decides_alike_on_every_server = false,
          .may_exchange_parameters = false,
          .gradients_per_update = [](double workers,
                                     std::int64_t backups) { return workers - static_cast<double>(backups); },
          .make = [](std::int64_t backups) -> std::unique_ptr<SynchronizationPolicy> {
            return std::make_unique<FirstGradients>(0, static_cast<std::size_t>(backups), Late::dropped);
          }};
}

}  // namespace paceline

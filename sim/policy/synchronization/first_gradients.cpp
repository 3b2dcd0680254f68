// K-sync and backup workers: an update combines the first gradients of a round.
//
// Equation:    of W members' gradients on the present parameters an update takes the first
//                k-sync:          K = `gradients`. The others are called off, and all W start over together
//                                 on the new parameters: a round lasts as long as the K-th of their W times.
//                backup-workers:  W - b, b = `backups`. Who is late works in vain until its gradient is
//                                 ready, which is dropped, then goes on with the parameters of then.
// Source:      k-sync: Dutta et al., "Slow and Stale Gradients Can Win the Race", AISTATS 2018;
//              backup-workers: Chen et al., "Revisiting Distributed Synchronous SGD", arXiv 1604.00981, 2016
#include <algorithm>
#include <iterator>
#include <limits>
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

struct BackupWorkersParameters {
  std::int64_t backups = 0;
};
void describe(Visitor& v, BackupWorkersParameters& p) {
  v.required("backups", p.backups, Whole{0}, "workers not waited for");
}

class FirstGradients final : public SynchronizationPolicy {
 public:
  explicit FirstGradients(const KSyncParameters& parameters)
      : most_(static_cast<std::size_t>(parameters.gradients)), calls_off_(true) {}
  explicit FirstGradients(const BackupWorkersParameters& parameters)
      : backups_(static_cast<std::size_t>(parameters.backups)) {}

  bool is_synchronous() const override { return true; }
  // One at least, however few members are left.
  std::size_t gradients_per_update() const override {
    const std::size_t members = members_.size();
    return members > backups_ ? std::min(most_, members - backups_) : std::min<std::size_t>(members, 1);
  }

  void begin(std::span<const WorkerId> members) override {
    members_ = {members.begin(), members.end()};
    ready_.clear();
    late_.clear();
  }

  SynchronizationDecision on_gradient(WorkerId worker, Seconds) override {
    if (late_.erase(worker) == 1) return {.drop = {worker}, .release = {worker}};
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
    return {.release = {worker}};
  }

 private:
  SynchronizationDecision end_round_if_complete() {
    if (ready_.empty() || ready_.size() < gradients_per_update()) return {};
    std::vector<WorkerId> others;
    std::ranges::set_difference(members_, ready_, std::back_inserter(others));
    const std::vector<WorkerId> in_time(ready_.begin(), ready_.end());
    ready_.clear();
    if (calls_off_)
      return {.combine = in_time, .drop = others, .release = {members_.begin(), members_.end()}};
    late_.insert(others.begin(), others.end());
    return {.combine = in_time, .release = in_time};
  }

  std::size_t most_ = std::numeric_limits<std::size_t>::max();  // gradients of an update
  std::size_t backups_ = 0;
  bool calls_off_ = false;  // who is late
  std::set<WorkerId> members_;
  std::set<WorkerId> ready_;
  std::set<WorkerId> late_;  // computing for a round that is over
};

}  // namespace

SynchronizationRule k_sync_rule() {
  return {.word = "k-sync",
          .description = "the first `gradients` of a round, the others are called off",
          .parameters = Parameters::of<KSyncParameters>(),
          .complaint = [](const Parameters& parameters, std::int64_t workers) -> std::optional<Complaint> {
            if (parameters.as<KSyncParameters>().gradients <= workers) return std::nullopt;
            return Complaint{"gradients", fmt::format("there are only {} workers", workers)};
          },
          .make = make_policy<FirstGradients, KSyncParameters>};
}

SynchronizationRule backup_workers_rule() {
  return {.word = "backup-workers",
          .description = "all but the `backups` last of a round, which are dropped when they come",
          .parameters = Parameters::of<BackupWorkersParameters>(),
          .complaint = [](const Parameters& parameters, std::int64_t workers) -> std::optional<Complaint> {
            if (parameters.as<BackupWorkersParameters>().backups < workers) return std::nullopt;
            return Complaint{"backups", fmt::format("of {} workers at least one must count", workers)};
          },
          .make = make_policy<FirstGradients, BackupWorkersParameters>};
}

}  // namespace paceline

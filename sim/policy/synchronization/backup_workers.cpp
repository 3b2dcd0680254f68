// Backup workers: an update combines all gradients of a round but the last ones, which are dropped when they
//                 come.
//
// Equation:    with W members and b = `backups`, an update takes the first W - b gradients computed on the
//              present parameters. Who is late works in vain until its gradient is ready, then goes on with
//              the parameters of then.
// Source:      Chen et al., "Revisiting Distributed Synchronous SGD", arXiv 1604.00981 (2016).
#include <algorithm>
#include <set>

#include <fmt/format.h>

#include "sim/policy/synchronization/synchronization.hpp"

namespace paceline {
namespace {

struct BackupWorkersParameters {
  std::int64_t backups = 0;
};
void describe(Visitor& v, BackupWorkersParameters& p) {
  v.required("backups", p.backups, Whole{0}, "workers not waited for");
}

class BackupWorkers final : public SynchronizationPolicy {
 public:
  explicit BackupWorkers(std::size_t backups) : backups_(backups) {}

  bool is_synchronous() const override { return true; }
  // One at least, however few members are left.
  std::size_t gradients_per_update() const override {
    const std::size_t members = members_.size();
    return members > backups_ ? members - backups_ : std::min<std::size_t>(members, 1);
  }

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
  SynchronizationDecision end_round_if_complete() {
    if (ready_.empty() || ready_.size() < gradients_per_update()) return {};
    const std::vector<WorkerId> in_time(ready_.begin(), ready_.end());
    for (const WorkerId member : members_)
      if (!ready_.contains(member)) late_.insert(member);
    ready_.clear();
    return {.combine = in_time, .drop = {}, .release = in_time};
  }

  std::size_t backups_;
  std::set<WorkerId> members_;
  std::set<WorkerId> ready_;
  std::set<WorkerId> late_;  // computing for a round that is over
};

}  // namespace

SynchronizationRule backup_workers_rule() {
  return {.word = "backup-workers",
          .description = "all but the `backups` last of a round, which are dropped when they come",
          .parameters = Parameters::of<BackupWorkersParameters>(),
          .complaint = [](const Parameters& parameters, std::int64_t workers) -> std::optional<Complaint> {
            if (parameters.as<BackupWorkersParameters>().backups < workers) return std::nullopt;
            return Complaint{"backups", fmt::format("of {} workers at least one must count", workers)};
          },
          .make = [](const Parameters& parameters) -> std::unique_ptr<SynchronizationPolicy> {
            return std::make_unique<BackupWorkers>(
                static_cast<std::size_t>(parameters.as<BackupWorkersParameters>().backups));
          }};
}

}  // namespace paceline

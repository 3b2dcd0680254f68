// Gradients on their way into the global parameters: what is combined, which version it was computed on, how
// stale it is when it is applied, who waits for it.
//
// Models:      updates under way, shard by shard, and the serial part of a synchronous step that may follow.
// Equation:    version of a shard after a step = version before + 1; staleness of a gradient on a shard =
//              version when it is applied - version its worker pulled. Weights of mean-over-batch gradients
//              of batches b_k: by-batch λ_k = b_k / Σ b_i; equal λ_k = 1 / n. Σ λ_k = 1 either way, so a
//              gradient that is an update by itself has weight 1: there the learning rate may follow the
//              batch (`batch_scaling`, sim/learning/optimizer.hpp), which the velocity does not remember.
// Units:       updates, samples.
// Assumptions: every server combines the same gradients. A gradient that some server has decided to combine
//              is applied even if its worker leaves.
//              A factor by staleness comes on top: staleness_weight.hpp. While a buffer of differences
//              fills, the version stays.
// Source:      weights: OmniLearn, ACSOS 2020 (its printed extra factor 1/K is an error: its code has none).
#pragma once

#include <algorithm>
#include <cstdint>
#include <map>
#include <span>
#include <utility>
#include <vector>

#include "sim/base/check.hpp"
#include "sim/policy/batching/batch_controller.hpp"
#include "sim/training/action.hpp"
#include "sim/training/workers.hpp"

namespace paceline {

// How much a gradient counts among so many of an update.
[[nodiscard]] inline double aggregation_weight(GradientWeighting weighting, std::int64_t batch_samples,
                                               std::int64_t update_samples, std::size_t gradients) {
  check(gradients > 0, "an update combines at least one gradient");
  if (weighting == GradientWeighting::equal) return 1.0 / static_cast<double>(gradients);
  return static_cast<double>(batch_samples) / static_cast<double>(update_samples);
}

struct CombinedGradient {
  WorkerId worker;
  GradientId gradient;
  std::int64_t batch_samples = 0;
  Versions pulled_versions{};
  bool is_held = true;  // by the learner
  // Over the shards applied so far.
  std::uint64_t largest_staleness = 0;
  std::uint64_t staleness_sum = 0;
  std::uint64_t shards_applied = 0;
};

struct PendingUpdate {
  std::vector<CombinedGradient> gradients;     // by worker
  std::vector<std::vector<WorkerId>> release;  // who goes on after it, by server
  std::vector<bool> has_stepped;               // by server that decides
  bool step_is_local = false;                  // of a worker on its own copy, before the servers'

  [[nodiscard]] std::int64_t samples() const {
    std::int64_t samples = 0;
    for (const CombinedGradient& combined : gradients) samples += combined.batch_samples;
    return samples;
  }
  [[nodiscard]] std::vector<WorkerId> workers() const {
    std::vector<WorkerId> workers;
    workers.reserve(gradients.size());
    for (const CombinedGradient& combined : gradients) workers.push_back(combined.worker);
    return workers;
  }
};

class UpdateAssembly {
 public:
  UpdateAssembly(std::size_t servers, GradientWeighting weighting)
      : weighting_(weighting), versions_(servers, 0) {}

  [[nodiscard]] const Versions& versions() const { return versions_; }
  [[nodiscard]] const std::map<UpdateId, PendingUpdate>& pending() const { return pending_; }

  // `deciders` servers (or the workers together: 1) will each take a step.
  UpdateId begin(std::vector<CombinedGradient> gradients, std::size_t deciders) {
    const UpdateId id{begun_++};
    PendingUpdate& update = pending_[id];
    update.gradients = std::move(gradients);
    update.release.resize(deciders);
    update.has_stepped.resize(deciders);
    return id;
  }
  // Absent when it was called off.
  [[nodiscard]] PendingUpdate* find(UpdateId id) {
    const auto found = pending_.find(id);
    return found == pending_.end() ? nullptr : &found->second;
  }
  [[nodiscard]] PendingUpdate& at(UpdateId id) { return pending_.at(id); }
  // Applies an update to one shard, whose version grows.
  [[nodiscard]] Apply apply(UpdateId id, ServerId shard, bool completes,
                            const Hyperparameters& hyperparameters, const StalenessWeight& by_staleness = {},
                            const std::optional<OuterStep>& outer = {}) {
    PendingUpdate& update = pending_.at(id);
    const std::int64_t samples = update.samples();
    Apply apply{id, shard, completes, {}, hyperparameters, outer};
    apply.gradients.reserve(update.gradients.size());
    for (CombinedGradient& combined : update.gradients) {
      const double weight =
          aggregation_weight(weighting_, combined.batch_samples, samples, update.gradients.size());
      const std::uint64_t staleness = versions_.at(shard.value) - combined.pulled_versions.at(shard.value);
      combined.largest_staleness = std::max(combined.largest_staleness, staleness);
      combined.staleness_sum += staleness;
      ++combined.shards_applied;
      apply.gradients.push_back({.worker = combined.worker,
                                 .gradient = combined.gradient,
                                 .batch_samples = combined.batch_samples,
                                 .weight = weight * by_staleness.of(staleness),
                                 .staleness = staleness,
                                 .largest_staleness = combined.largest_staleness,
                                 .mean_staleness = static_cast<double>(combined.staleness_sum) /
                                                   static_cast<double>(combined.shards_applied)});
    }
    if (!outer || !outer->is_added_only) ++versions_[shard.value];
    return apply;
  }
  // It is applied, or its worker has left before it could send anything.
  void erase(UpdateId id) { pending_.erase(id); }

  // The serial part of a step, after which these go on.
  void begin_coordination(UpdateId id, std::vector<WorkerId> workers) {
    coordinating_.emplace(id, std::move(workers));
  }
  [[nodiscard]] std::vector<WorkerId> end_coordination(UpdateId id) {
    auto found = coordinating_.extract(id);
    check(!found.empty(), "a coordination finished that was not under way");
    return std::move(found.mapped());
  }
  [[nodiscard]] bool is_coordinating() const { return !coordinating_.empty(); }
  [[nodiscard]] bool nothing_under_way() const { return pending_.empty() && coordinating_.empty(); }

  // They go on with the latest update under way, or after its coordination. False when there is none, or this
  // server has taken its step of it and others have not.
  [[nodiscard]] bool wait_for_latest(ServerId server, const std::vector<WorkerId>& workers) {
    if (nothing_under_way()) return false;
    if (!pending_.empty() && pending_.rbegin()->second.has_stepped.at(server.value)) return false;
    std::vector<WorkerId>& waiting = pending_.empty() ? coordinating_.rbegin()->second
                                                      : pending_.rbegin()->second.release.at(server.value);
    waiting.insert(waiting.end(), workers.begin(), workers.end());
    return true;
  }
  // The worker is gone: nothing is released for it any more.
  void forget(WorkerId worker) {
    for (auto& [id, update] : pending_)
      for (std::vector<WorkerId>& release : update.release) std::erase(release, worker);
    for (auto& [id, workers] : coordinating_) std::erase(workers, worker);
  }

 private:
  GradientWeighting weighting_;
  Versions versions_;
  std::map<UpdateId, PendingUpdate> pending_;
  std::map<UpdateId, std::vector<WorkerId>> coordinating_;
  std::uint64_t begun_ = 0;
};

}  // namespace paceline

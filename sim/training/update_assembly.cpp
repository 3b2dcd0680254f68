#include "sim/training/update_assembly.hpp"

#include <algorithm>
#include <numeric>
#include <utility>

#include "sim/base/check.hpp"

namespace paceline {

std::vector<double> aggregation_weights(GradientWeighting weighting, std::span<const std::int64_t> batches) {
  check(!batches.empty(), "an update combines at least one gradient");
  if (weighting == GradientWeighting::equal)
    return std::vector<double>(batches.size(), 1.0 / static_cast<double>(batches.size()));
  const auto total = static_cast<double>(std::accumulate(batches.begin(), batches.end(), std::int64_t{0}));
  std::vector<double> weights;
  for (const std::int64_t batch : batches) weights.push_back(static_cast<double>(batch) / total);
  return weights;
}

std::int64_t PendingUpdate::samples() const {
  std::int64_t samples = 0;
  for (const CombinedGradient& combined : gradients) samples += combined.batch_samples;
  return samples;
}

std::vector<WorkerId> PendingUpdate::workers() const {
  std::vector<WorkerId> workers;
  for (const CombinedGradient& combined : gradients) workers.push_back(combined.worker);
  return workers;
}

UpdateId UpdateAssembly::begin(std::vector<CombinedGradient> gradients, std::size_t deciders) {
  const UpdateId id{begun_++};
  PendingUpdate& update = pending_[id];
  update.gradients = std::move(gradients);
  update.release.resize(deciders);
  update.steps_left = deciders;
  return id;
}

PendingUpdate* UpdateAssembly::find(UpdateId id) {
  const auto found = pending_.find(id);
  return found == pending_.end() ? nullptr : &found->second;
}

Apply UpdateAssembly::apply(UpdateId id, ServerId shard, bool completes,
                            const Hyperparameters& hyperparameters) {
  PendingUpdate& update = pending_.at(id);
  std::vector<std::int64_t> batches;
  for (const CombinedGradient& combined : update.gradients) batches.push_back(combined.batch_samples);
  const std::vector<double> weights = aggregation_weights(weighting_, batches);
  Apply apply{id, shard, completes, {}, hyperparameters};
  for (std::size_t i = 0; i < update.gradients.size(); ++i) {
    CombinedGradient& combined = update.gradients[i];
    const std::uint64_t staleness = versions_.at(shard.value) - combined.pulled_versions.at(shard.value);
    combined.largest_staleness = std::max(combined.largest_staleness, staleness);
    combined.staleness_sum += staleness;
    ++combined.shards_applied;
    apply.gradients.push_back({.worker = combined.worker,
                               .gradient = combined.gradient,
                               .batch_samples = combined.batch_samples,
                               .weight = weights[i],
                               .staleness = staleness,
                               .largest_staleness = combined.largest_staleness,
                               .mean_staleness = static_cast<double>(combined.staleness_sum) /
                                                 static_cast<double>(combined.shards_applied)});
  }
  ++versions_[shard.value];
  return apply;
}

void UpdateAssembly::begin_coordination(UpdateId id, std::vector<WorkerId> workers) {
  coordinating_.emplace(id, std::move(workers));
}

std::vector<WorkerId> UpdateAssembly::end_coordination(UpdateId id) {
  auto found = coordinating_.extract(id);
  check(!found.empty(), "a coordination finished that was not under way");
  return std::move(found.mapped());
}

bool UpdateAssembly::wait_for_latest(ServerId server, const std::vector<WorkerId>& workers) {
  if (nothing_under_way()) return false;
  std::vector<WorkerId>& waiting =
      pending_.empty() ? coordinating_.rbegin()->second : pending_.rbegin()->second.release.at(server.value);
  waiting.insert(waiting.end(), workers.begin(), workers.end());
  return true;
}

void UpdateAssembly::forget(WorkerId worker) {
  for (auto& [id, update] : pending_)
    for (std::vector<WorkerId>& release : update.release) std::erase(release, worker);
  for (auto& [id, workers] : coordinating_) std::erase(workers, worker);
}

}  // namespace paceline

#include "sim/report/recording/applied_updates.hpp"

#include <algorithm>
#include <utility>

#include "sim/base/check.hpp"

namespace paceline {

std::vector<GradientOutcome> AppliedUpdates::add(UpdateId update, bool completes_update,
                                                 const std::vector<AppliedGradient>& gradients) {
  Pending pending;
  const auto found = pending_.find(update);
  if (found != pending_.end()) {
    pending = std::move(found->second);
    pending_.erase(found);
  }
  add_shard(pending, gradients);
  if (!completes_update) {
    pending_[update] = std::move(pending);
    return {};
  }
  for (GradientOutcome& outcome : pending.outcomes)
    outcome.mean_staleness /= static_cast<double>(pending.shards);
  return std::move(pending.outcomes);
}

void AppliedUpdates::add_shard(Pending& pending, const std::vector<AppliedGradient>& gradients) {
  if (pending.shards++ == 0)
    for (const AppliedGradient& gradient : gradients) pending.outcomes.push_back({gradient, 0.0});
  check(pending.outcomes.size() == gradients.size(), "every shard of an update has the same gradients");
  for (std::size_t i = 0; i < gradients.size(); ++i) {
    GradientOutcome& outcome = pending.outcomes[i];
    check(outcome.gradient.gradient == gradients[i].gradient,
          "every shard of an update has the same gradients");
    outcome.gradient.staleness = std::max(outcome.gradient.staleness, gradients[i].staleness);
    outcome.mean_staleness += static_cast<double>(gradients[i].staleness);
  }
}

}  // namespace paceline

// Keys that are sound, are read, and change nothing in this job: each gets a warning at its place.
#include "sim/scenario/checks/check.hpp"

namespace paceline {
namespace {

class EffectRules : Rules {
 public:
  using Rules::Rules;

  void check() const {
    check_statistical_learner();
    check_weighting();
    const Heterogeneity& changes = scenario.heterogeneity.changes;
    for (std::size_t i = 0; i < changes.schedule.size(); ++i)
      check_moment(changes.schedule[i].at, fmt::format("heterogeneity.schedule.{}.at", i));
    for (std::size_t i = 0; i < changes.stragglers.size(); ++i)
      check_moment(changes.stragglers[i].from, fmt::format("heterogeneity.stragglers.{}.from", i));
    for (std::size_t i = 0; i < changes.membership.size(); ++i)
      check_moment(changes.membership[i].at, fmt::format("heterogeneity.membership.{}.at", i));
  }

 private:
  // No statistical form reads these: they are part of what its recorded runs did.
  void check_statistical_learner() const {
    const LearnerKind kind = scenario.learner.kind;
    if (kind != LearnerKind::statistical && kind != LearnerKind::assumed) return;
    const OptimizerConfig& optimizer = scenario.job.optimizer;
    const std::pair<std::string, bool> keys[] = {
        {"job.optimizer.nesterov", optimizer.nesterov},
        {"job.optimizer.weight_decay", optimizer.weight_decay != 0.0},
        {"job.optimizer.momentum_at", optimizer.momentum_at == MomentumPlace::workers},
        {"job.optimizer.batch_norm", true}};
    for (const auto& [key, would_matter] : keys)
      if (would_matter && given(key) && together(key, "learner.kind"))
        warn(key, fmt::format("`{}` has no effect: this learner only knows what its recorded runs did", key),
             "remove it, or use the learner `network`");
  }

  void check_weighting() const {
    const std::string weighting = "batching.weighting";
    if (!given(weighting) || !together(weighting, "synchronization")) return;
    for (const PhaseEntry& phase : scenario.synchronization)
      if (gradients_per_update(phase.config.policy, scenario.cluster.workers.size()) > 1) return;
    warn(weighting, "`weighting` has no effect: every update is one gradient, there is nothing to weigh");
  }

  void check_moment(const Moment& moment, const std::string& path) const {
    const auto* epoch = std::get_if<AtEpoch>(&moment);
    const auto* progress = std::get_if<AtProgress>(&moment);
    if ((epoch != nullptr && epoch->epoch >= scenario.stop.epochs) ||
        (progress != nullptr && progress->fraction >= 1.0))
      warn(path, fmt::format("this never happens: the job ends at epoch {}", scenario.stop.epochs));
  }
};

}  // namespace

void check_no_effect(const Scenario& scenario, const Reading& reading) {
  EffectRules(scenario, reading).check();
}

}  // namespace paceline

// Keys that are sound, are read, and change nothing in this job: each is said at its place.
#include <array>

#include <fmt/format.h>

#include "sim/scenario/checks/semantic_check_parts.hpp"

namespace paceline {
namespace {

struct LeftToTheFit {
  const char* key;
  bool (*matters)(const OptimizerConfig& optimizer);
};

// No statistical form reads these: they are part of what its recorded runs did.
constexpr std::array left_to_the_fit{
    LeftToTheFit{"job.optimizer.nesterov", [](const OptimizerConfig& o) { return o.nesterov; }},
    LeftToTheFit{"job.optimizer.weight_decay",
                 [](const OptimizerConfig& o) { return o.weight_decay != 0.0; }},
    LeftToTheFit{"job.optimizer.momentum_at",
                 [](const OptimizerConfig& o) { return o.momentum_at == MomentumPlace::workers; }},
    LeftToTheFit{"job.optimizer.batch_norm", [](const OptimizerConfig&) { return true; }},
};

void check_statistical_learner(const Scenario& scenario, const Reading& reading) {
  const LearnerKind kind = scenario.learner.kind;
  if (!all_sound(reading, {"learner.kind", "job.optimizer"})) return;
  if (kind != LearnerKind::statistical && kind != LearnerKind::assumed) return;
  for (const LeftToTheFit& left : left_to_the_fit)
    if (reading.is_given(left.key) && same_source(reading, left.key, "learner.kind") &&
        left.matters(scenario.job.optimizer))
      reading.problems().warning(
          reading.spot(left.key),
          fmt::format("`{}` has no effect: this learner only knows what its recorded runs did", left.key),
          "remove it, or use the learner `network`");
}

void check_weighting(const Scenario& scenario, const Reading& reading) {
  const std::string weighting = "batching.weighting";
  if (!reading.is_given(weighting) || !all_sound(reading, {"synchronization", "cluster.workers"})) return;
  if (!same_source(reading, weighting, "synchronization")) return;
  for (const PhaseEntry& phase : scenario.synchronization)
    if (gradients_per_update(phase.config.policy, scenario.cluster.workers.size()) > 1) return;
  reading.problems().warning(
      reading.spot(weighting),
      "`weighting` has no effect: every update is one gradient, there is nothing to weigh");
}

void check_moment(const Moment& moment, const std::string& path, const Scenario& scenario,
                  const Reading& reading) {
  if (!all_sound(reading, {path.c_str(), "stop.epochs"})) return;
  const auto* epoch = std::get_if<AtEpoch>(&moment);
  const auto* progress = std::get_if<AtProgress>(&moment);
  const bool late = (epoch != nullptr && epoch->epoch >= scenario.stop.epochs) ||
                    (progress != nullptr && progress->fraction >= 1.0);
  if (late)
    reading.problems().warning(reading.spot(path), fmt::format("this never happens: the job ends at epoch {}",
                                                               scenario.stop.epochs));
}

void check_moments(const Scenario& scenario, const Reading& reading) {
  const Heterogeneity& changes = scenario.heterogeneity.changes;
  for (std::size_t i = 0; i < changes.schedule.size(); ++i)
    check_moment(changes.schedule[i].at, fmt::format("heterogeneity.schedule.{}.at", i), scenario, reading);
  for (std::size_t i = 0; i < changes.stragglers.size(); ++i)
    check_moment(changes.stragglers[i].from, fmt::format("heterogeneity.stragglers.{}.from", i), scenario,
                 reading);
  for (std::size_t i = 0; i < changes.membership.size(); ++i)
    check_moment(changes.membership[i].at, fmt::format("heterogeneity.membership.{}.at", i), scenario,
                 reading);
}

}  // namespace

void check_no_effect(const Scenario& scenario, const Reading& reading) {
  if (reading.problems().has_errors()) return;  // first things first
  check_statistical_learner(scenario, reading);
  check_weighting(scenario, reading);
  check_moments(scenario, reading);
}

}  // namespace paceline

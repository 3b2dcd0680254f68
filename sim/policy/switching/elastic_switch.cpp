// Drops stragglers from a phase in which all wait for all, and takes them in again when a probe shows them well.
#include <algorithm>

#include "sim/policy/switching/switch_policy.hpp"

namespace paceline {
namespace {

class ElasticSwitch final : public SwitchPolicy {
 public:
  ElasticSwitch(const ReactionConfig& config, std::span<const PhaseConfig> phases, std::size_t workers)
      : phases_(phases.begin(), phases.end()),
        probe_every_updates_(config.probe_every_updates),
        detector_(config.detection, workers),
        straggling_(workers, false) {}

  bool watches() const override { return true; }
  std::optional<std::int64_t> probe_every_updates() const override { return probe_every_updates_; }

  void on_members(std::size_t phase, std::span<const WorkerId> members) override {
    if (phase != phase_)
      for (std::uint64_t w = 0; w < straggling_.size(); ++w) forget(WorkerId{w});
    phase_ = phase;
    is_watching_ = is_watched(phases_.at(phase));
    members_ = members.size();
    detector_.watch(members, phase);
  }

  Reaction on_iteration(WorkerId worker, std::int64_t samples, Seconds own_time) override {
    if (!is_watching_) return {};
    Reaction reaction{detector_.on_iteration(worker, samples, own_time), {}};
    reaction.decisions = changes_of_standing(reaction.judged, straggling_);
    std::vector<Decision> drops;
    for (const Decision& decision : reaction.decisions) {
      if (decision.kind != DecisionKind::alarm || members_ == 1) continue;
      --members_;
      drops.push_back({DecisionKind::drop, decision.worker, decision.judgement});
    }
    reaction.decisions.insert(reaction.decisions.end(), drops.begin(), drops.end());
    return reaction;
  }

  Reaction on_probe(WorkerId worker, std::int64_t samples, Seconds own_time) override {
    const Judgement judgement = detector_.judge_alone(worker, samples, own_time);
    Reaction reaction{{}, {{DecisionKind::probe, worker, judgement}}};
    if (judgement.is_slow) return reaction;
    forget(worker);
    reaction.decisions.push_back({DecisionKind::restore, worker, judgement});
    return reaction;
  }

 private:
  void forget(WorkerId worker) {
    detector_.acquit(worker);
    straggling_.at(worker.value) = false;
  }

  std::vector<PhaseConfig> phases_;
  std::int64_t probe_every_updates_;
  StragglerDetector detector_;
  std::vector<bool> straggling_;
  std::optional<std::size_t> phase_;
  std::size_t members_ = 0;
  bool is_watching_ = false;
};

}  // namespace

SwitchRule elastic_switch_rule() {
  return {
      .kind = SwitchKind::elastic,
      .word = "elastic",
      .description = "who straggles in a bsp phase is dropped until a probe or the next phase restores it",
      .watches = true,
      .leaves_phases = false,
      .drops_workers = true,
      .make = [](const ReactionConfig& config, std::span<const PhaseConfig> phases,
                 std::size_t workers) -> std::unique_ptr<SwitchPolicy> {
        return std::make_unique<ElasticSwitch>(config, phases, workers);
      }};
}

}  // namespace paceline

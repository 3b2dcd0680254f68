// Drops stragglers from a phase in which all wait for all; the others go on without them. A dropped worker is
// probed every `probe_every` updates: it computes one mini-batch that nobody uses. When its throughput is
// back it is taken in again. The next phase begins with everybody.
#include <algorithm>

#include "sim/policy/switching/watching_switch.hpp"

namespace paceline {
namespace {

struct ElasticParameters {
  DetectionConfig detection{};
  std::int64_t probe_every_updates = 50;
};
void describe(Visitor& v, ElasticParameters& p) {
  describe(v, p.detection);
  v.optional("probe_every", p.probe_every_updates, updates(), "between two probes of dropped workers");
}

class ElasticSwitch final : public WatchingSwitch {
 public:
  ElasticSwitch(const ElasticParameters& parameters, std::span<const PhaseConfig> phases, std::size_t workers)
      : WatchingSwitch(parameters.detection, phases, workers),
        probe_every_updates_(parameters.probe_every_updates) {}

  std::optional<std::int64_t> probe_every_updates() const override { return probe_every_updates_; }

  void on_members(std::size_t phase, std::span<const WorkerId> members) override {
    if (phase != phase_)
      for (std::uint64_t w = 0; w < straggling_.size(); ++w) forget(WorkerId{w});
    phase_ = phase;
    WatchingSwitch::on_members(phase, members);
  }

  // One member at least remains: somebody is never slow (straggler_detector.cpp).
  Reaction on_iteration(WorkerId worker, std::int64_t samples, Seconds own_time) override {
    Reaction reaction = WatchingSwitch::on_iteration(worker, samples, own_time);
    std::vector<Decision> drops;
    for (const Decision& decision : reaction.decisions)
      if (decision.kind == DecisionKind::alarm)
        drops.push_back({DecisionKind::drop, decision.worker, decision.judgement});
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
    detector_.forget(worker);
    straggling_.at(worker.value) = false;
  }

  std::int64_t probe_every_updates_;
  std::optional<std::size_t> phase_;
};

}  // namespace

SwitchRule elastic_switch_rule() {
  return {
      .word = "elastic",
      .description = "who straggles in a bsp phase is dropped until a probe or the next phase restores it",
      .parameters = Parameters::of<ElasticParameters>(),
      .watches = true,
      .drops_workers = true,
      .make = make_switch<ElasticSwitch, ElasticParameters>};
}

}  // namespace paceline

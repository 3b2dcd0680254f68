// A switch policy that watches: alarms in phases in which all wait for all are noted, and nothing else done.
// Those that react derive from it.
#pragma once

#include <vector>

#include "sim/policy/switching/switch_policy.hpp"

namespace paceline {

class WatchingSwitch : public SwitchPolicy {
 public:
  WatchingSwitch(const DetectionConfig& detection, std::span<const PhaseConfig> phases, std::size_t workers)
      : phases_(phases.begin(), phases.end()), detector_(detection, workers), straggling_(workers, false) {}

  bool watches() const final { return true; }

  void on_members(std::size_t phase, std::span<const WorkerId> members) override {
    is_watching_ = is_watched(phases_.at(phase));
    detector_.watch(members, phase);
  }
  // The judgements that an iteration completes, and an alarm or a clear for every worker whose standing they
  // change.
  Reaction on_iteration(WorkerId worker, std::int64_t samples, Seconds own_time) override {
    if (!is_watching_) return {};
    Reaction reaction{detector_.on_iteration(worker, samples, own_time), {}};
    for (const Judgement& judgement : reaction.judged) {
      const std::size_t w = judgement.worker.value;
      if (judgement.is_straggler == straggling_.at(w)) continue;
      straggling_[w] = judgement.is_straggler;
      const DecisionKind kind = judgement.is_straggler ? DecisionKind::alarm : DecisionKind::clear;
      reaction.decisions.push_back({kind, judgement.worker, judgement});
    }
    return reaction;
  }

 protected:
  std::vector<PhaseConfig> phases_;
  StragglerDetector detector_;
  std::vector<bool> straggling_;  // by what the detector said so far
  bool is_watching_ = false;
};

}  // namespace paceline

// What the switch policies that watch have in common: a detector, and who straggles by what it said so far.
#pragma once

#include <vector>

#include "sim/policy/switching/switch_policy.hpp"

namespace paceline {

class WatchingSwitch : public SwitchPolicy {
 public:
  WatchingSwitch(const DetectionConfig& detection, std::span<const PhaseConfig> phases, std::size_t workers)
      : phases_(phases.begin(), phases.end()), detector_(detection, workers), straggling_(workers, false) {}

  bool watches() const final { return true; }

 protected:
  // The judgements that an iteration completes, and an alarm or a clear for every worker whose standing they
  // change.
  [[nodiscard]] Reaction judge(WorkerId worker, std::int64_t samples, Seconds own_time) {
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

  std::vector<PhaseConfig> phases_;
  StragglerDetector detector_;
  std::vector<bool> straggling_;
};

}  // namespace paceline

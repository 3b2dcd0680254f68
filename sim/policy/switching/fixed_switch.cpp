// The phases as written; and the same with somebody watching, who does nothing.
#include "sim/policy/switching/switch_policy.hpp"

namespace paceline {
namespace {

class FixedSwitch final : public SwitchPolicy {};

class WatchSwitch final : public SwitchPolicy {
 public:
  WatchSwitch(const ReactionConfig& config, std::span<const PhaseConfig> phases, std::size_t workers)
      : phases_(phases.begin(), phases.end()),
        detector_(config.detection, workers),
        straggling_(workers, false) {}

  bool watches() const override { return true; }
  void on_members(std::size_t phase, std::span<const WorkerId> members) override {
    is_watching_ = is_watched(phases_.at(phase));
    detector_.watch(members, phase);
  }
  Reaction on_iteration(WorkerId worker, std::int64_t samples, Seconds own_time) override {
    if (!is_watching_) return {};
    Reaction reaction{detector_.on_iteration(worker, samples, own_time), {}};
    reaction.decisions = changes_of_standing(reaction.judged, straggling_);
    return reaction;
  }

 private:
  std::vector<PhaseConfig> phases_;
  StragglerDetector detector_;
  std::vector<bool> straggling_;
  bool is_watching_ = false;
};

}  // namespace

SwitchRule fixed_switch_rule() {
  return {
      .kind = SwitchKind::fixed,
      .word = "fixed",
      .description = "the phases as written, whatever happens",
      .watches = false,
      .leaves_phases = false,
      .drops_workers = false,
      .make = [](const ReactionConfig&, std::span<const PhaseConfig>,
                 std::size_t) -> std::unique_ptr<SwitchPolicy> { return std::make_unique<FixedSwitch>(); }};
}

SwitchRule watch_switch_rule() {
  return {.kind = SwitchKind::watch,
          .word = "watch",
          .description = "the same, but stragglers are looked for in bsp phases and noted",
          .watches = true,
          .leaves_phases = false,
          .drops_workers = false,
          .make = [](const ReactionConfig& config, std::span<const PhaseConfig> phases,
                     std::size_t workers) -> std::unique_ptr<SwitchPolicy> {
            return std::make_unique<WatchSwitch>(config, phases, workers);
          }};
}

}  // namespace paceline

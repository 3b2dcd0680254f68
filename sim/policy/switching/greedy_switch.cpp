// Leaves a phase in which all wait for all as soon as somebody straggles, for the next one in which nobody
// waits (ASP). Watching goes on there; when nobody straggles any more, the phase that was left is taken up
// again with what is left of its work. Every change is a switch, with its cost.
#include <algorithm>

#include "sim/policy/switching/watching_switch.hpp"

namespace paceline {
namespace {

class GreedySwitch final : public WatchingSwitch {
 public:
  using WatchingSwitch::WatchingSwitch;

  std::optional<std::size_t> detour_from(std::size_t phase) const override {
    return asynchronous_phase_after(phases_, phase);
  }

  void on_members(std::size_t phase, std::span<const WorkerId> members) override {
    detector_.watch(members, phase);
    if (phase == phase_) return;  // somebody left or joined
    const bool on_detour = left_ && phase == detour_from(*left_);
    if (!on_detour) left_.reset();
    phase_ = phase;
    is_watching_ = on_detour || (is_watched(phases_.at(phase)) && detour_from(phase).has_value());
    is_leaving_ = false;
  }

  Reaction on_iteration(WorkerId worker, std::int64_t samples, Seconds own_time) override {
    if (is_leaving_) return {};
    Reaction reaction = WatchingSwitch::on_iteration(worker, samples, own_time);
    if (reaction.judged.empty()) return reaction;
    const auto straggler = std::ranges::find(reaction.judged, true, &Judgement::is_straggler);
    const bool somebody_straggles = straggler != reaction.judged.end();
    if (!left_ && somebody_straggles) {
      left_ = phase_;
      leave(DecisionKind::leave_phase, *straggler, reaction);
    } else if (left_ && !somebody_straggles) {
      // Said of the one that was cleared last.
      const Judgement& cleared =
          reaction.decisions.empty() ? reaction.judged.front() : *reaction.decisions.back().judgement;
      leave(DecisionKind::return_to_phase, cleared, reaction);
    }
    return reaction;
  }

 private:
  void leave(DecisionKind kind, const Judgement& judgement, Reaction& reaction) {
    is_leaving_ = true;  // what is still under way changes nothing any more
    reaction.decisions.push_back({kind, judgement.worker, judgement});
  }

  std::optional<std::size_t> phase_;
  std::optional<std::size_t> left_;  // the phase the job is away from, or about to leave
  bool is_leaving_ = false;
};

}  // namespace

SwitchRule greedy_switch_rule() {
  return {.word = "greedy",
          .description = "while somebody straggles in a bsp phase, the next asp phase goes on instead",
          .parameters = Parameters::of<DetectionConfig>(),
          .watches = true,
          .leaves_phases = true,
          .make = make_switch<GreedySwitch, DetectionConfig>};
}

}  // namespace paceline

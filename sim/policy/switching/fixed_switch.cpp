// The phases as written; and the same with somebody watching, who does nothing.
#include "sim/policy/switching/watching_switch.hpp"

namespace paceline {
namespace {

class FixedSwitch final : public SwitchPolicy {};

class WatchSwitch final : public WatchingSwitch {
 public:
  using WatchingSwitch::WatchingSwitch;

  void on_members(std::size_t phase, std::span<const WorkerId> members) override {
    is_watching_ = is_watched(phases_.at(phase));
    detector_.watch(members, phase);
  }
  Reaction on_iteration(WorkerId worker, std::int64_t samples, Seconds own_time) override {
    return is_watching_ ? judge(worker, samples, own_time) : Reaction{};
  }

 private:
  bool is_watching_ = false;
};

}  // namespace

SwitchRule fixed_switch_rule() {
  return {
      .word = "fixed",
      .description = "the phases as written, whatever happens",
      .make = [](const Parameters&, std::span<const PhaseConfig>,
                 std::size_t) -> std::unique_ptr<SwitchPolicy> { return std::make_unique<FixedSwitch>(); }};
}

SwitchRule watch_switch_rule() {
  return {.word = "watch",
          .description = "the same, but stragglers are looked for in bsp phases and noted",
          .parameters = Parameters::of<DetectionConfig>(),
          .watches = true,
          .make = [](const Parameters& parameters, std::span<const PhaseConfig> phases,
                     std::size_t workers) -> std::unique_ptr<SwitchPolicy> {
            return std::make_unique<WatchSwitch>(parameters.as<DetectionConfig>(), phases, workers);
          }};
}

}  // namespace paceline

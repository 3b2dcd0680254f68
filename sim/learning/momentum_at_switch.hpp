// What momentum an asynchronous phase trains with after a switch to it.
//
// Models:      the share of the velocity kept from update to update (not the velocity itself: optimizer.hpp,
//              velocity_at_switch), while an asynchronous phase that follows another lasts. A synchronous
//              phase, and a first phase, always have the optimizer's momentum.
// Equation:    momentum · min(1, f), n = workers, d = work applied since the switch, k = floor(d / stage):
//                keep          f = 1
//                zero          f = 0
//                scaled        f = 1/n
//                scaled-until  f = 1/n while k < 1, then 1
//                staged        f = 2^k / n      each stage doubles it
//                additive      f = (1 + k) / n  each stage adds 1/n
// Units:       the stage in updates, samples or epochs.
// Assumptions: read when an update is applied, like the learning rate. n counts all workers of the cluster.
// Not modelled: rules for a switch back to a synchronous phase.
// Source:      keep: configuration policy of Sync-Switch, Li et al., ICDCS 2021, section IV; the others are
//              what a study may compare with it.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>

#include "sim/base/count.hpp"

namespace paceline {

enum class MomentumRule { keep, zero, scaled, scaled_until, staged, additive };

[[nodiscard]] constexpr bool has_stages(MomentumRule rule) {
  return rule == MomentumRule::scaled_until || rule == MomentumRule::staged || rule == MomentumRule::additive;
}

struct MomentumAtSwitch {
  MomentumRule rule = MomentumRule::keep;
  std::optional<Count> stage = std::nullopt;  // of rules that have stages
};

// What was applied since the switch to the present asynchronous phase.
struct SinceSwitch {
  std::size_t workers = 1;
  std::uint64_t updates = 0;
  std::int64_t samples = 0;
  double epochs = 0.0;
};

// The factor on the optimizer's momentum, 0-1.
[[nodiscard]] double momentum_factor(const MomentumAtSwitch& at_switch, const SinceSwitch& since);

}  // namespace paceline

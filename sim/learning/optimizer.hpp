// What a scenario says about the optimizer, and the learning rate that follows from it.
//
// Models:      SGD or AdamW, whose rate follows a schedule and may scale with what one update combines.
// Equation:    rate = learning_rate · worker_scaling(n) · batch_scaling(b / (n · b₀)) · shape(s) · ramp,
//                scaling(r) = 1 (none), r (linear), √r (sqrt);
//                n = gradients combined in the update (W under BSP, 1 under ASP), b = their samples, b₀ = the
//                initial batch of one worker: r = 1 as long as batches keep their mean size;
//                steps:  shape(s) = factor^k, k = milestones at or before position s;
//                cosine: shape(s) = least + (1 − least) · (1 + cos(π·u)) / 2, u from 0 at the end of the
//                        warm-up to 1 at `end`, and 1 after it;
//                ramp = min(1, s / warm-up). The position, of one of three bases, is that before the update
//                is applied:
//                  epoch:    samples applied / dataset samples
//                  progress: samples applied / workload samples, 0-1
//                  step:     updates applied, never re-based: one BSP update and one ASP update each add 1.
//              velocity_factor_at_switch: v ← factor · v as a phase begins after another;
//                factor = 1 (keep), 0 (zero), velocity_scale (scale).
//              momentum while an asynchronous phase that follows another lasts (any other phase has the
//              optimizer's): momentum · min(1, f), n = workers of the cluster, d = work applied since the
//              switch, k = floor(d / stage):
//                keep          f = 1
//                zero          f = 0
//                scaled        f = 1/n
//                scaled-until  f = 1/n while k < 1, then 1
//                staged        f = 2^k / n      each stage doubles it
//                additive      f = (1 + k) / n  each stage adds 1/n
// Units:       the rate is per update. Milestones and warm-up: epochs, fractions of the workload, updates;
//              the stage: updates, samples or epochs.
// Assumptions: rate and momentum are read when the update is applied, not when its gradients were computed. A
//              warm-up starts at 0, so the very first update moves nothing but the velocity.
// Not modelled: other shapes of schedule (polynomial, restarts), rates that depend on staleness, momentum
//              rules for a switch back to a synchronous phase.
// Source:      linear scaling: Sync-Switch's configuration policy (n·η under BSP, η under ASP), Goyal et al.
//              2017; the two bases of Sync-Switch's schedules, workload and raw step: its recorded runs;
//              cosine: Loshchilov, Hutter, "SGDR", ICLR 2017, equation 5, without restarts.
//              Momentum `keep`: Sync-Switch's configuration policy, Li et al., ICDCS 2021, section IV; the
//              other rules are what a study may compare with it.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <vector>

#include "sim/base/quantity.hpp"

namespace paceline {

enum class OptimizerKind { sgd, adamw };
enum class RateScaling { none, linear, sqrt };
enum class ScheduleBasis { epoch, progress, step };
enum class ScheduleShape { steps, cosine };
// Where velocities live: one at each server for all gradients, or one for each worker's gradients.
enum class MomentumPlace { server, workers };
// What becomes of them when a phase begins after another.
enum class VelocityAtSwitch { keep, zero, scale };
// Whose batches the averages of batch normalization follow: batch_norm_averages.hpp.
enum class BatchNormRule { chief, averaged, per_push };

enum class MomentumRule { keep, zero, scaled, scaled_until, staged, additive };

[[nodiscard]] constexpr bool has_stages(MomentumRule rule) {
  return rule == MomentumRule::scaled_until || rule == MomentumRule::staged || rule == MomentumRule::additive;
}

struct MomentumAtSwitch {
  MomentumRule rule = MomentumRule::keep;
  std::optional<Count> stage = std::nullopt;  // of rules that have stages
};

// What AdamW remembers of gradients: shares kept from step to step, of their mean and of their mean square.
struct AdamW {
  double beta1 = 0.9;
  double beta2 = 0.999;
  double epsilon = 1e-8;
};

// What was applied since the switch to the present asynchronous phase.
struct SinceSwitch {
  std::size_t workers = 1;
  std::uint64_t updates = 0;
  std::int64_t samples = 0;
  double epochs = 0.0;
};

struct LearningRateSchedule {
  ScheduleBasis basis = ScheduleBasis::epoch;
  ScheduleShape shape = ScheduleShape::steps;
  std::vector<double> milestones;               // of steps, ascending
  double factor = 0.1;                          // multiplies the rate at each milestone
  double end = 1.0;                             // of cosine: from here on …
  double least = 0.0;                           // … the rate is this part of the first one
  std::optional<double> warmup = std::nullopt;  // the rate rises linearly from 0 until here
};

struct OptimizerConfig {
  OptimizerKind kind = OptimizerKind::sgd;
  double learning_rate = 0.1;
  AdamW adamw{};
  double momentum = 0.0;  // this and what follows of velocities: of SGD
  MomentumPlace momentum_at = MomentumPlace::server;
  double weight_decay = 0.0;
  bool nesterov = false;
  VelocityAtSwitch velocity_at_switch = VelocityAtSwitch::keep;
  std::optional<double> velocity_scale = std::nullopt;  // for VelocityAtSwitch::scale
  MomentumAtSwitch momentum_at_switch{};
  BatchNormRule batch_norm = BatchNormRule::chief;
  RateScaling worker_scaling = RateScaling::none;
  RateScaling batch_scaling = RateScaling::none;
  LearningRateSchedule schedule{};
};

// An update about to be applied, and where the job stands before it.
struct UpdateContext {
  double epoch = 0.0;
  double progress = 0.0;                                   // 0-1
  std::uint64_t step = 0;                                  // updates applied since the start of the job
  std::size_t gradients = 1;                               // combined in the update
  std::int64_t samples = 1;                                // of these gradients
  std::int64_t initial_batch_samples = 1;                  // of one worker
  std::optional<SinceSwitch> since_switch = std::nullopt;  // in an asynchronous phase that follows another
};

[[nodiscard]] double learning_rate_at(const OptimizerConfig& optimizer, const UpdateContext& update);
[[nodiscard]] double learning_rate_without_warmup(const OptimizerConfig& optimizer,
                                                  const UpdateContext& update);
// The factor on the optimizer's momentum, 0-1.
[[nodiscard]] double momentum_factor(const MomentumAtSwitch& at_switch, const SinceSwitch& since);
[[nodiscard]] double momentum_at(const OptimizerConfig& optimizer, const UpdateContext& update);
[[nodiscard]] double velocity_factor_at_switch(const OptimizerConfig& optimizer);

}  // namespace paceline

// The proportional rule with a multiplicative repair: the global batch stays exactly what it was.
//
// Models:      batches in proportion to observed speeds, damped where the rule overshoots.
// Equation:    w_k = b_k · (t̄ / t_k)^γ_k;  b' = whole samples with Σ b_k' = B, in proportion to w_k as far as the bounds
//              allow (water-filling and largest remainders: apportion.hpp);  B = K·b_0 of the K present
//              workers. Dead-band: all take their b_k' if max_k |b_k' - b_k| / b_k > dead_band for γ = 1, else nobody.
//              γ_k = 1, halved each time worker k's batch reverses its direction; 1 again once all rest.
// Units:       samples, seconds.
// Assumptions: times grow with the batch, t ∝ b^ε near the balance: a step multiplies an error by 1 - γ·ε. Where ε ≤ 1 (a
//              fixed part in the times) that is never negative: the balance is approached from one side, the slower
//              the larger the fixed part. Where ε > 1 it may be, and γ is halved until γ·ε < 1: so there are at most
//              log2(ε) + 1 reversals, and it cannot oscillate, however uneven the workers. Three adjustments reach 10 %
//              where 0.55 ≤ ε ≤ 2: a fixed part of at most 0.45 of the balanced time on every worker, or a bend beyond
//              which a sample costs up to twice as much (tests/policy/fixed_part_test.cpp).
// Source:      own; for the additive repair it replaces see released.hpp.
//
// When to use it: wherever the global batch, and so the learning rate, is to stay what it was tuned for; at high
// heterogeneity, where the additive repair of the released code leaves batches below their bounds.
#include <cmath>

#include "sim/policy/batch_rule.hpp"
#include "sim/policy/controllers/periodic_controller.hpp"

namespace paceline {
namespace {

class ProportionalRepair final : public PeriodicController {
 public:
  ProportionalRepair(const BatchingConfig& config, std::span<const WorkerPrior> workers)
      : PeriodicController(config, workers),
        dead_band_(dead_band(config)),
        gains_(workers.size(), 1.0),
        directions_(workers.size(), 0) {}

 private:
  std::optional<Allocation> proposal() override {
    const std::vector<double> undamped(gains_.size(), 1.0);
    if (largest_relative_change(workers_, repaired(undamped)) <= dead_band_) {
      gains_ = undamped;
      directions_.assign(directions_.size(), 0);
      return std::nullopt;
    }
    const Allocation proposed = repaired(gains_);
    if (largest_relative_change(workers_, proposed) == 0.0) return std::nullopt;
    for (std::size_t k = 0; k < workers_.size(); ++k) note_direction(k, proposed[k].samples);
    return proposed;
  }

  [[nodiscard]] Allocation repaired(const std::vector<double>& gains) const {
    const double mean_time_s = workers_.mean_time_s();
    std::vector<double> shares(workers_.size(), 0.0);
    for (std::size_t k = 0; k < workers_.size(); ++k)
      if (workers_[k].is_present)
        shares[k] = static_cast<double>(workers_[k].batch_samples) *
                    std::pow(mean_time_s / workers_[k].mean_time_s, gains[k]);
    return apportioned(shares);
  }

  void note_direction(std::size_t k, std::int64_t samples) {
    const int direction = (samples > workers_[k].batch_samples) - (samples < workers_[k].batch_samples);
    if (direction * directions_[k] < 0) gains_[k] /= 2.0;
    if (direction != 0) directions_[k] = direction;
  }

  double dead_band_;
  std::vector<double> gains_;
  std::vector<int> directions_;  // of each worker's last change: -1, 0 (none yet), 1
};

}  // namespace

BatchControllerRule proportional_repair_controller() {
  return {
      .kind = BatchControllerKind::proportional_repair,
      .word = "proportional-repair",
      .synonym = "",
      .description = "proportional to observed times; the total is kept exactly, within the bounds, damped",
      .adjusts = true,
      .adjust_every = EveryIterations{10},
      .dead_band = 0.05,
      .uses_dead_band = true,
      .uses_smoothing = true,
      .keeps_total = true,
      .make = [](const BatchingConfig& config,
                 std::span<const WorkerPrior> workers) -> std::unique_ptr<BatchController> {
        return std::make_unique<ProportionalRepair>(config, workers);
      }};
}

}  // namespace paceline

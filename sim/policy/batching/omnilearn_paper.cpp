// The proportional controller of OmniLearn as published.
//
// Models:      batches that give every worker the mean of the iteration times.
// Equation:    Δb_k = -X_k·(t_k - t̄), which is b_k' = b_k · t̄ / t_k     t_k: moving average of worker k's
//              iteration times since the last adjustment, t̄ its mean over workers; then clamp to the bounds,
//              then the dead-band: if max_k |b_k' - b_k| / b_k > dead_band every worker takes its b_k',
//              otherwise nobody does. Learned bound: if a larger batch lowered a worker's throughput by more
//              than the dead-band, its maximum becomes the batch before.
// Units:       samples, seconds.
// Assumptions: b_k' is rounded to the nearest sample. Σ b_k' is free: it grows as long as batches sit on slow
//              workers, since the mean of the b_k / b_k' is 1. Gains above 1 (throughput that falls with the
//              batch) may oscillate. With a fixed part φ of the balanced time a step leaves a share φ of an
//              error (of its logarithm): three reach 10 % where φ ≤ 0.45 on every worker (speeds up to 16
//              times apart; tests/policy/fixed_part_test.cpp).
// Not modelled: the published stop and restart, but for its time (`adjustment_cost`).
// Source:      OmniLearn, ACSOS 2020, section III; the weight of the moving average is not published.
#include <algorithm>
#include <cmath>

#include "sim/policy/batching/periodic_controller.hpp"

namespace paceline {
namespace {

// The batch before the last increase, and the samples/s it gave.
struct SmallerBatch {
  std::int64_t samples = 0;
  double throughput = 0.0;
};

class OmniLearnPaper final : public PeriodicController {
 public:
  OmniLearnPaper(const BatchingConfig& config, std::span<const WorkerPrior> workers,
                 const PeriodicParameters& parameters)
      : PeriodicController(config, workers, parameters),
        dead_band_(parameters.dead_band),
        before_(workers.size()) {}

 private:
  void forget(WorkerId worker) override { before_.at(worker.value).reset(); }

  std::optional<Allocation> proposal() override {
    const double mean_time_s = workers_.mean_time_s();
    Allocation proposed = workers_.unchanged();
    for (std::size_t k = 0; k < workers_.size(); ++k) {
      if (!workers_[k].is_present) continue;
      learn_maximum(k);
      const auto batch = static_cast<double>(workers_[k].batch_samples);
      proposed[k] = within(batch * mean_time_s / workers_[k].mean_time_s, bounds_[k]);
    }
    if (largest_relative_change(workers_, proposed) <= dead_band_) return std::nullopt;
    for (std::size_t k = 0; k < workers_.size(); ++k)
      if (proposed[k].samples > workers_[k].batch_samples)
        before_[k] = SmallerBatch{workers_[k].batch_samples, workers_[k].throughput()};
    return proposed;
  }

  void learn_maximum(std::size_t k) {
    if (before_[k] && workers_[k].throughput() < before_[k]->throughput * (1.0 - dead_band_)) {
      bounds_[k].highest = std::max(bounds_[k].lowest, before_[k]->samples);
      bounds_[k].highest_is = BatchLimit::throughput;
    }
    before_[k].reset();
  }

  double dead_band_;
  std::vector<std::optional<SmallerBatch>> before_;  // absent if the last change was no increase
};

}  // namespace

BatchControllerRule omnilearn_paper_controller() {
  return {.word = "dynamic",
          .synonym = "published",
          .description = "proportional to observed times, as OmniLearn's paper; the total is free",
          .parameters = Parameters::of<PeriodicParameters>(),
          .adjusts = true,
          .make = make_controller<OmniLearnPaper, PeriodicParameters>};
}

}  // namespace paceline

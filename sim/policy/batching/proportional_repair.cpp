// The proportional rule with a multiplicative repair: the global batch stays exactly what it was.
//
// Models:      batches that give every worker the same iteration time, by how its time was seen to grow with
//              its batch.
// Equation:    b_k' = b_k·(T / t_k)^(1/e_k) as far as the bounds allow, in whole samples, T such that Σ b_k'
//              = B (observed_curve.hpp); B = K·b_0 of the K present workers. e_k: elasticity dln t / dln b of
//              worker k, 1 at first, which makes the first step the proportional rule, b' ∝ b/t; then by the
//              chords through the last batches it was seen with, the dead-band taken for the noise of times
//              (observed_curve.hpp). Dead-band: all take their b_k' if the proportional rule (every e = 1)
//              has max_k |b_k' - b_k| / b_k > dead_band; else nobody.
// Units:       samples, seconds.
// Assumptions: times grow with the batch. A batch that went too far lies, with the one before, on both sides
//              of the balance, and the next step is made between the two: a swing narrows instead of
//              repeating. Tested over random clusters, not proven: with a fixed part of up to 0.8 of the
//              balanced time and a bend beyond which a sample costs up to four times as much it comes to rest
//              within 20 adjustments; with bends of up to eight times and more it may swing for good
//              (README.md). Within 10 % of balance after three where the fixed part is up to 0.8 or a sample
//              beyond a bend costs up to twice as much; where it costs four times as much, in 98 % of the
//              clusters (tests/policy/fixed_part_test.cpp, coming_to_rest_test.cpp; with jitter: README.md).
//              A speed that changes together with the batch makes a wrong chord: the next step may lead away
//              from balance, later ones come back.
// Source:      own; for the additive repair it replaces see omnilearn_code.hpp.
#include "sim/policy/batching/observed_curve.hpp"
#include "sim/policy/batching/periodic_controller.hpp"

namespace paceline {
namespace {

class ProportionalRepair final : public PeriodicController {
 public:
  ProportionalRepair(const BatchingConfig& config, std::span<const WorkerPrior> workers,
                     const PeriodicParameters& parameters)
      : PeriodicController(config, workers, parameters),
        dead_band_(parameters.dead_band),
        curves_(workers.size()) {}

 private:
  void forget(WorkerId worker) override { curves_.at(worker.value) = {}; }

  std::optional<Allocation> proposal() override {
    std::vector<double> throughputs;
    std::vector<TimeNearBatch> times;
    for (std::size_t k = 0; k < workers_.size(); ++k) {
      if (workers_[k].is_present)
        curves_[k].observe(static_cast<double>(workers_[k].batch_samples), workers_[k].mean_time_s,
                           dead_band_);
      throughputs.push_back(workers_[k].throughput());
      times.push_back(curves_[k].near());
    }
    if (largest_relative_change(workers_, apportioned(throughputs)) <= dead_band_) return std::nullopt;
    const Allocation proposed = divided(std::span<const TimeNearBatch>(times), equal_times);
    if (largest_relative_change(workers_, proposed) == 0.0) return std::nullopt;
    return proposed;
  }

  double dead_band_;
  std::vector<ObservedCurve> curves_;
};

}  // namespace

BatchControllerRule proportional_repair_controller() {
  return {.word = "proportional-repair",
          .description =
              "towards equal times, by how they were seen to grow with the batch; the total is kept exactly, "
              "within the bounds",
          .parameters = Parameters::of<PeriodicParameters>(),
          .adjusts = true,
          .keeps_total = true,
          .make = make_controller<ProportionalRepair, PeriodicParameters>};
}

}  // namespace paceline

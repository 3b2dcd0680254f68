// LB-BSP's rule for CPU clusters, as a comparison.
//
// Models:      batches in proportion to predicted speeds, resized at every look.
// Equation:    v_k ← v_k + s·(b/t - v_k) after each iteration, s the weight of the newest; b_k = B·v_k / Σ v,
//              whole samples with Σ b_k = B, within the bounds (apportion.hpp).
// Units:       samples, seconds.
// Assumptions: the moving average stands for the published prediction from processor and memory use. No
//              dead-band.
// Not modelled: its rule for GPUs, which knows each worker's line t = a + m·b.
// Source:      Chen et al., "Semi-Dynamic Load Balancing", SoCC 2020, arXiv 1806.02508: the proportional rule
//              it gives for CPU clusters; the printed formula was not compared.
#include "sim/policy/batching/periodic_controller.hpp"

namespace paceline {
namespace {

class LbBsp final : public PeriodicController {
 public:
  LbBsp(const BatchingConfig& config, std::span<const WorkerPrior> workers, const LookParameters& parameters)
      : PeriodicController(config, workers, parameters),
        smoothing_(parameters.smoothing),
        speeds_(workers.size()) {}

 private:
  void forget(WorkerId worker) override { speeds_.at(worker.value).reset(); }

  void note(WorkerId worker, std::int64_t batch_samples, Seconds compute_time) override {
    const double speed = static_cast<double>(batch_samples) / compute_time.value();
    std::optional<double>& average = speeds_.at(worker.value);
    average = average ? *average + smoothing_ * (speed - *average) : speed;
  }

  std::optional<Allocation> proposal() override {
    std::vector<double> shares;
    for (const std::optional<double>& speed : speeds_) shares.push_back(speed.value_or(0.0));
    const Allocation proposed = apportioned(shares);
    if (largest_relative_change(workers_, proposed) == 0.0) return std::nullopt;
    return proposed;
  }

  double smoothing_;
  std::vector<std::optional<double>> speeds_;  // samples/s; absent: not seen yet
};

}  // namespace

BatchControllerRule lb_bsp_controller() {
  return {.word = "lb-bsp",
          .description = "proportional to a moving average of speeds, resized at every look",
          .parameters = Parameters::of<LookParameters>({.adjust_every = EveryIterations{1}}),
          .adjusts = true,
          .keeps_total = true,
          .make = make_controller<LbBsp, LookParameters>};
}

}  // namespace paceline

// A controller that looks at the times every so many iterations of every worker, or every so many epochs,
// while the workers go on.
//
// Models:      when a rule is applied; the rule itself is `proposal`.
// Assumptions: iterations: every present worker has finished so many since the last look. Epochs: the update
//              that completes them makes a look due, which waits until every present worker was seen under
//              its present batch. What is proposed is adopted by all or by nobody.
// Source:      OmniLearn, ACSOS 2020, section III (per iteration); its code (per epoch).
#pragma once

#include "sim/policy/batching/apportion.hpp"
#include "sim/policy/batching/observed_workers.hpp"

namespace paceline {

// Of controllers that leave small changes alone.
struct PeriodicParameters {
  double dead_band = 0.05;
  double smoothing = 0.2;  // weight of the newest iteration time in a moving average
  AdjustmentPeriod adjust_every = EveryIterations{10};
};
void describe(Visitor& v, PeriodicParameters& p);
// The keys that controllers without a dead-band have too.
void describe_period(Visitor& v, double& smoothing, AdjustmentPeriod& adjust_every);

class PeriodicController : public BatchController {
 public:
  PeriodicController(const BatchingConfig& config, std::span<const WorkerPrior> workers, double smoothing,
                     const AdjustmentPeriod& adjust_every);

  Allocation initial() const final { return start_; }
  std::optional<Allocation> on_iteration(WorkerId worker, std::int64_t batch_samples,
                                         Seconds compute_time) final;
  std::optional<Allocation> on_update(std::span<const WorkerId> workers, double epoch) final;
  std::optional<Allocation> on_leave(WorkerId worker) final;
  void on_join(WorkerId worker) final;

 protected:
  // The batches of all workers by what was observed, the absent ones unchanged; nothing when all shall stay.
  virtual std::optional<Allocation> proposal() = 0;

  // The worker is gone, or back and may be another machine.
  virtual void forget(WorkerId) {}
  // One iteration under the batch in force.
  virtual void note(WorkerId /*worker*/, std::int64_t /*batch_samples*/, Seconds /*compute_time*/) {}

  // The global batch of the present workers, divided anew among them by `shares` (by worker); the absent keep
  // theirs.
  [[nodiscard]] Allocation apportioned(std::span<const double> shares) const {
    return divided(shares, apportion);
  }
  // By any rule(total, claims, bounds) of the present workers.
  template <class Claim, class Rule>
  [[nodiscard]] Allocation divided(std::span<const Claim> claims, const Rule& rule) const {
    std::vector<Claim> claims_present;
    for (const std::size_t k : present()) claims_present.push_back(claims[k]);
    return with_absent(rule(total_of_present(), claims_present, bounds_of_present()));
  }

  std::vector<BatchBounds> bounds_;
  ObservedWorkers workers_;

 private:
  std::optional<Allocation> look();
  [[nodiscard]] std::vector<std::size_t> present() const;
  [[nodiscard]] std::int64_t total_of_present() const;
  [[nodiscard]] std::vector<BatchBounds> bounds_of_present() const;
  [[nodiscard]] Allocation with_absent(const Allocation& of_present) const;

  Allocation start_;
  std::int64_t initial_samples_;
  AdjustmentPeriod period_;
  double periods_done_ = 0.0;  // whole ones, of epochs
  bool look_is_due_ = false;
};

}  // namespace paceline

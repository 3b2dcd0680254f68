// What controllers that adjust remember of the workers, and a controller that looks at it every so many
// iterations of every worker, or every so many epochs, while the workers go on.
//
// Models:      an average iteration time for each worker since its batch last changed; when a rule is applied
//              (the rule itself is `proposal`).
// Equation:    moving average t̄ ← t̄ + s·(t - t̄), s the weight of the newest time, 1 for the first; plain
//              mean where no such weight is given.
// Units:       seconds, samples.
// Assumptions: an iteration with another batch than the one in force was started before the last adjustment:
//              it tells nothing and is left out. A look is due once every present worker has finished so many
//              since the last; or with the update that completes so many epochs, once every present worker
//              was seen under its present batch. What is proposed is adopted by all or by nobody.
// Source:      OmniLearn, ACSOS 2020, section III (moving average, per iteration); its code (plain mean, per
//              epoch).
#pragma once

#include "sim/policy/batching/apportion.hpp"

namespace paceline {

struct ObservedWorker {
  bool is_present = true;
  std::int64_t batch_samples = 0;
  double mean_time_s = 0.0;
  std::int64_t iterations = 0;             // in that mean
  std::int64_t iterations_since_look = 0;  // since the controller last looked

  [[nodiscard]] double throughput() const { return static_cast<double>(batch_samples) / mean_time_s; }
};

class ObservedWorkers {
 public:
  // `smoothing`: weight of the newest time; absent: a plain mean.
  ObservedWorkers(const Allocation& start, std::optional<double> smoothing);

  // False: the iteration belongs to an earlier batch.
  bool observe(WorkerId worker, std::int64_t batch_samples, Seconds compute_time);
  void set_present(WorkerId worker, bool is_present);
  // Every present worker was seen in so many iterations since the last look.
  [[nodiscard]] bool all_seen(std::int64_t iterations) const;
  void looked();
  // The batches in force change; their times begin anew.
  void adopt(const Allocation& allocation);

  [[nodiscard]] std::size_t size() const { return workers_.size(); }
  [[nodiscard]] const ObservedWorker& operator[](std::size_t worker) const { return workers_[worker]; }
  [[nodiscard]] std::vector<std::size_t> present() const;
  // Mean over the present workers.
  [[nodiscard]] double mean_time_s() const;
  // The batches in force, wanted as they are.
  [[nodiscard]] Allocation unchanged() const;

 private:
  std::vector<ObservedWorker> workers_;
  std::optional<double> smoothing_;
};

// The largest |b' - b| / b.
[[nodiscard]] double largest_relative_change(const ObservedWorkers& workers, const Allocation& allocation);

struct LookParameters {
  double smoothing = 0.2;  // weight of the newest iteration time in a moving average
  AdjustmentPeriod adjust_every = EveryIterations{10};
};
void describe(Visitor& v, LookParameters& p);

// Of controllers that leave small changes alone.
struct PeriodicParameters : LookParameters {
  double dead_band = 0.05;
};
void describe(Visitor& v, PeriodicParameters& p);

class PeriodicController : public BatchController {
 public:
  PeriodicController(const BatchingConfig& config, std::span<const WorkerPrior> workers,
                     const LookParameters& parameters);

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
    const std::vector<std::size_t> present = workers_.present();
    std::vector<Claim> claims_present;
    std::vector<BatchBounds> bounds_present;
    for (const std::size_t k : present) {
      claims_present.push_back(claims[k]);
      bounds_present.push_back(bounds_[k]);
    }
    const std::int64_t total = initial_samples_ * static_cast<std::int64_t>(present.size());
    const Allocation of_present = rule(total, claims_present, bounds_present);
    Allocation allocation = workers_.unchanged();
    for (std::size_t i = 0; i < present.size(); ++i) allocation[present[i]] = of_present[i];
    return allocation;
  }

  std::vector<BatchBounds> bounds_;
  ObservedWorkers workers_;

 private:
  std::optional<Allocation> look();

  Allocation start_;
  std::int64_t initial_samples_;
  AdjustmentPeriod period_;
  double periods_done_ = 0.0;  // whole ones, of epochs
  bool look_is_due_ = false;
};

}  // namespace paceline

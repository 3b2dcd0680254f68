#include "sim/policy/batching/omnilearn_code.hpp"

#include <algorithm>
#include <cmath>
#include <numeric>

#include "sim/base/check.hpp"
#include "sim/policy/batching/periodic_controller.hpp"

namespace paceline {
namespace {

struct OmniLearnCodeParameters {
  double dead_band = 0.2;
  AdjustmentPeriod adjust_every = EveryEpochs{1.0};
};
void describe(Visitor& v, OmniLearnCodeParameters& p) {
  v.optional("dead_band", p.dead_band, Number{between(0, 1)},
             "change of a worker's batch, as a fraction, below which it is left alone");
  v.optional("adjust_every", p.adjust_every, Measured{{{Dimension::epochs, above(0)}}},
             "between two looks at the times");
}

// Equal additive repair towards the global batch, without a second clamp.
void repair(Allocation& allocation, std::int64_t global_batch) {
  const auto workers = static_cast<double>(allocation.size());
  std::int64_t sum = 0;
  for (const WorkerBatch& batch : allocation) sum += batch.samples;
  const double excess = static_cast<double>(sum - global_batch) / workers;
  for (WorkerBatch& batch : allocation)
    batch.samples = static_cast<std::int64_t>(std::ceil(static_cast<double>(batch.samples) - excess));
}

}  // namespace

Allocation omnilearn_code_batches(const OmniLearnCodeRule& rule, std::span<const std::int64_t> batches,
                                  std::span<const double> times_s) {
  check(batches.size() == times_s.size() && !batches.empty(), "a time for each batch");
  const auto workers = static_cast<double>(batches.size());
  const double mean_s = std::accumulate(times_s.begin(), times_s.end(), 0.0) / workers;
  Allocation allocation;
  for (std::size_t k = 0; k < batches.size(); ++k) {
    const auto batch = static_cast<double>(batches[k]);
    double wanted = batch - (batch / times_s[k]) * (times_s[k] - mean_s);
    if (std::abs((wanted - batch) / wanted) < rule.dead_band) wanted = batch;
    const double clamped = std::clamp(wanted, static_cast<double>(rule.minimum_samples),
                                      static_cast<double>(rule.maximum_samples));
    const BatchLimit limit = wanted < clamped   ? BatchLimit::minimum
                             : wanted > clamped ? BatchLimit::maximum
                                                : BatchLimit::none;
    allocation.push_back({static_cast<std::int64_t>(std::ceil(clamped)), wanted, limit});
  }
  if (rule.global_batch) repair(allocation, *rule.global_batch);
  for (WorkerBatch& batch : allocation) {
    if (batch.samples >= 1) continue;
    batch.samples = 1;
    batch.limited_by = BatchLimit::minimum;
  }
  return allocation;
}

namespace {

// Each worker reports its mean time when it sees that the epoch has changed; the rule is applied once all
// have. Under BSP they all see it after the same update. Under ASP, whose epochs count from the first push on
// (ceil instead of floor), who has reported waits for the last one.
class OmniLearnCode final : public BatchController {
 public:
  OmniLearnCode(const BatchingConfig& config, std::span<const WorkerPrior> workers,
                const OmniLearnCodeParameters& parameters)
      : config_(config),
        dead_band_(parameters.dead_band),
        period_epochs_(std::get<EveryEpochs>(parameters.adjust_every).epochs),
        start_(start_batches(config, workers)),
        workers_(start_, std::nullopt),
        priors_(workers.begin(), workers.end()),
        seen_period_(workers.size(), 0.0),
        has_reported_(workers.size(), false) {}

  Allocation initial() const override { return start_; }

  void begin_phase(bool is_synchronous) override {
    is_synchronous_ = is_synchronous;
    has_reported_.assign(has_reported_.size(), false);
  }

  std::optional<Allocation> on_iteration(WorkerId worker, std::int64_t batch_samples,
                                         Seconds compute_time) override {
    workers_.observe(worker, batch_samples, compute_time);
    return std::nullopt;
  }

  std::optional<Allocation> on_update(std::span<const WorkerId> workers, double epoch) override {
    const double periods = epoch / period_epochs_;
    period_ = std::max(period_, is_synchronous_ ? std::floor(periods) : std::ceil(periods));
    for (const WorkerId worker : workers) {
      const std::size_t k = worker.value;
      if (workers_[k].is_present && workers_[k].iterations > 0 && seen_period_[k] < period_)
        has_reported_[k] = true;
    }
    return adjust_if_all_reported();
  }

  std::optional<Allocation> on_leave(WorkerId worker) override {
    workers_.set_present(worker, false);
    has_reported_.at(worker.value) = false;
    return adjust_if_all_reported();
  }
  void on_join(WorkerId worker) override { workers_.set_present(worker, true); }

  bool holds(WorkerId worker) const override { return !is_synchronous_ && has_reported_.at(worker.value); }

 private:
  std::optional<Allocation> adjust_if_all_reported() {
    const std::vector<std::size_t> present = workers_.present();
    const bool all = std::ranges::all_of(present, [this](std::size_t k) { return has_reported_[k]; });
    if (present.empty() || !all) return std::nullopt;
    const Allocation adjusted = adjusted_batches(present);
    const bool changes = largest_relative_change(workers_, adjusted) > 0.0;
    workers_.adopt(adjusted);
    for (const std::size_t k : present) {
      has_reported_[k] = false;
      seen_period_[k] = period_;
    }
    return changes ? std::optional(adjusted) : std::nullopt;
  }

  [[nodiscard]] Allocation adjusted_batches(const std::vector<std::size_t>& present) const {
    Batches batches;
    std::vector<double> times_s;
    for (const std::size_t k : present) {
      batches.push_back(workers_[k].batch_samples);
      times_s.push_back(workers_[k].mean_time_s);
    }
    OmniLearnCodeRule rule{dead_band_, config_.minimum_samples, config_.maximum_samples, std::nullopt};
    if (is_synchronous_)
      rule.global_batch = config_.initial_samples * static_cast<std::int64_t>(present.size());
    const Allocation ruled = omnilearn_code_batches(rule, batches, times_s);
    Allocation allocation = workers_.unchanged();
    for (std::size_t i = 0; i < present.size(); ++i) {
      WorkerBatch& batch = allocation[present[i]] = ruled[i];
      const std::optional<std::int64_t>& memory = priors_[present[i]].memory_samples;
      if (!memory || batch.samples <= *memory) continue;
      batch.samples = *memory;
      batch.limited_by = BatchLimit::memory;
    }
    return allocation;
  }

  BatchingConfig config_;
  double dead_band_;
  double period_epochs_;
  Allocation start_;
  ObservedWorkers workers_;
  std::vector<WorkerPrior> priors_;
  std::vector<double> seen_period_;  // by worker, of its last report
  std::vector<bool> has_reported_;   // and waits for the others
  double period_ = 0.0;
  bool is_synchronous_ = true;
};

}  // namespace

BatchControllerRule omnilearn_code_controller() {
  return {.word = "omnilearn-code",
          .description =
              "proportional to mean times of an epoch, as OmniLearn's code: the total repaired "
              "under bsp, free under asp, where workers wait for each other's times",
          .parameters = Parameters::of<OmniLearnCodeParameters>(),
          .adjusts = true,
          .allows_partial_waiting = false,
          .make = make_controller<OmniLearnCode, OmniLearnCodeParameters>};
}

}  // namespace paceline

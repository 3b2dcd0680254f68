// The proportional controller of OmniLearn as published (ACSOS 2020, section III); see batch_controller.hpp.
#include <algorithm>
#include <cmath>

#include "sim/base/check.hpp"
#include "sim/policy/batch_controllers.hpp"

namespace paceline {
namespace {

// What the controller remembers of one worker.
struct Observed {
  bool is_present = true;
  std::int64_t batch_samples = 0;
  std::int64_t maximum_samples = 0;      // the configured bound, or a lower one it has learned
  double mean_time_s = 0.0;              // moving average since the last adjustment
  std::int64_t iterations_averaged = 0;  // in that average
  std::int64_t iterations_since_look = 0;
  std::int64_t smaller_batch_samples = 0;  // before the last increase …
  std::optional<double>
      smaller_throughput;  // … and the samples/s it gave; absent if the last change was no increase
};

class DynamicBatches final : public BatchController {
 public:
  DynamicBatches(const BatchingConfig& config, std::size_t worker_count)
      : config_(config), workers_(worker_count) {
    for (Observed& worker : workers_) {
      worker.batch_samples = config.initial_samples;
      worker.maximum_samples = config.maximum_samples;
    }
  }

  Batches initial() const override { return Batches(workers_.size(), config_.initial_samples); }

  std::optional<Batches> on_iteration(WorkerId worker, std::int64_t batch_samples,
                                      Seconds compute_time) override {
    Observed& seen = workers_.at(worker.value);
    // An iteration started before the last adjustment tells nothing about the batch in force now.
    if (batch_samples != seen.batch_samples) return std::nullopt;
    observe(seen, compute_time.value());
    const bool all_seen = std::all_of(workers_.begin(), workers_.end(), [this](const Observed& w) {
      return !w.is_present || w.iterations_since_look >= config_.adjust_every_iterations;
    });
    return all_seen ? look() : std::nullopt;
  }

  void on_leave(WorkerId worker) override { set_present(worker, false); }
  void on_join(WorkerId worker) override { set_present(worker, true); }

 private:
  void observe(Observed& seen, double time_s) const {
    const double weight = seen.iterations_averaged == 0 ? 1.0 : config_.smoothing;
    seen.mean_time_s += weight * (time_s - seen.mean_time_s);
    ++seen.iterations_averaged;
    ++seen.iterations_since_look;
  }

  void set_present(WorkerId worker, bool is_present) {
    Observed& seen = workers_.at(worker.value);
    seen.is_present = is_present;
    seen.mean_time_s = 0.0;
    seen.iterations_averaged = 0;
    seen.iterations_since_look = 0;
    seen.smaller_throughput.reset();
  }

  std::optional<Batches> look() {
    double mean_time_s = 0.0;
    const auto present = static_cast<double>(std::ranges::count_if(workers_, &Observed::is_present));
    for (Observed& worker : workers_) {
      if (!worker.is_present) continue;
      learn_maximum(worker);
      worker.iterations_since_look = 0;
      mean_time_s += worker.mean_time_s / present;
    }
    Batches proposed;
    double largest_change = 0.0;
    for (const Observed& worker : workers_) {
      if (!worker.is_present) {
        proposed.push_back(worker.batch_samples);
        continue;
      }
      const auto batch = static_cast<double>(worker.batch_samples);
      const auto wanted = static_cast<std::int64_t>(std::llround(batch * mean_time_s / worker.mean_time_s));
      proposed.push_back(std::clamp(wanted, config_.minimum_samples, worker.maximum_samples));
      largest_change =
          std::max(largest_change, std::abs(static_cast<double>(proposed.back()) - batch) / batch);
    }
    if (largest_change <= config_.dead_band) return std::nullopt;
    for (std::size_t k = 0; k < workers_.size(); ++k)
      if (workers_[k].is_present) adopt(workers_[k], proposed[k]);
    return proposed;
  }

  void learn_maximum(Observed& worker) const {
    if (!worker.smaller_throughput) return;
    const double throughput = static_cast<double>(worker.batch_samples) / worker.mean_time_s;
    if (throughput < *worker.smaller_throughput * (1.0 - config_.dead_band))
      worker.maximum_samples = std::max(config_.minimum_samples, worker.smaller_batch_samples);
    worker.smaller_throughput.reset();
  }

  static void adopt(Observed& worker, std::int64_t batch_samples) {
    if (batch_samples > worker.batch_samples) {
      worker.smaller_throughput = static_cast<double>(worker.batch_samples) / worker.mean_time_s;
      worker.smaller_batch_samples = worker.batch_samples;
    }
    worker.batch_samples = batch_samples;
    worker.mean_time_s = 0.0;
    worker.iterations_averaged = 0;
  }

  BatchingConfig config_;
  std::vector<Observed> workers_;
};

}  // namespace

std::unique_ptr<BatchController> make_dynamic_batches(const BatchingConfig& config,
                                                      std::size_t worker_count) {
  return std::make_unique<DynamicBatches>(config, worker_count);
}

}  // namespace paceline

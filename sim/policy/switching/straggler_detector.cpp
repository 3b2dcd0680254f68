#include "sim/policy/switching/straggler_detector.hpp"

#include <algorithm>
#include <cmath>

#include "sim/base/check.hpp"
#include "sim/base/order_statistics.hpp"

namespace paceline {
namespace {

constexpr std::size_t windows_remembered = 20;

double throughput_of(std::int64_t samples, Seconds own_time) {
  check(own_time > Seconds{}, "an iteration takes time");
  return static_cast<double>(samples) / own_time.value();
}

std::optional<double> median_in(const std::map<std::size_t, std::deque<double>>& usual, std::size_t phase) {
  const auto found = usual.find(phase);
  if (found == usual.end() || found->second.empty()) return std::nullopt;
  return median({found->second.begin(), found->second.end()});
}

}  // namespace

void describe(Visitor& v, DetectionConfig& c) {
  v.optional("window", c.window_iterations, iterations(),
             "of every worker, over which its throughput is taken");
  v.optional("consecutive", c.consecutive_windows, Whole{1, 1000},
             "windows in a row that raise an alarm, or clear it");
  v.optional("floor", c.floor, percent(from_and_below(0, 1)),
             "below its own baseline: a worker is not slow above that");
  v.optional("deviations", c.deviations, Number{at_least(0)},
             "standard deviations below the mean of all workers: a worker is not slow above that");
}

StragglerDetector::StragglerDetector(const DetectionConfig& config, std::size_t workers)
    : config_(config), workers_(workers) {}

void StragglerDetector::watch(std::span<const WorkerId> members, std::size_t phase) {
  if (phase != phase_) previous_phase_ = phase_;
  phase_ = phase;
  for (Observed& worker : workers_) {
    worker.is_watched = false;
    worker.window = {};
  }
  for (const WorkerId member : members) workers_.at(member.value).is_watched = true;
}

std::vector<Judgement> StragglerDetector::on_iteration(WorkerId id, std::int64_t samples, Seconds own_time) {
  Observed& observed = workers_.at(id.value);
  if (!observed.is_watched) return {};
  ++observed.window.iterations;
  observed.window.samples += samples;
  observed.window.own_time += own_time;
  if (!window_is_complete()) return {};

  std::vector<Judgement> judged;
  double sum = 0.0;
  double most = 0.0;
  double squares = 0.0;
  for (std::uint64_t w = 0; w < workers_.size(); ++w) {
    if (!workers_[w].is_watched) continue;
    const double throughput = throughput_of(workers_[w].window.samples, workers_[w].window.own_time);
    judged.push_back({.worker = WorkerId{w}, .throughput = throughput});
    sum += throughput;
    most = std::max(most, throughput);
  }
  // Rounding must not lift the mean above all of them: somebody is never slow, a single worker for one.
  const double mean = std::min(sum / static_cast<double>(judged.size()), most);
  for (const Judgement& judgement : judged)
    squares += (judgement.throughput - mean) * (judgement.throughput - mean);
  // All baselines before any of them moves.
  for (Judgement& judgement : judged) {
    judgement.cluster_mean = mean;
    judgement.cluster_deviation = std::sqrt(squares / static_cast<double>(judged.size()));
    judgement.baseline = baseline(workers_[judgement.worker.value], judgement.throughput);
  }
  for (Judgement& judgement : judged) conclude(workers_[judgement.worker.value], judgement);
  return judged;
}

Judgement StragglerDetector::judge_alone(WorkerId id, std::int64_t samples, Seconds own_time) const {
  const Observed& worker = workers_.at(id.value);
  Judgement judgement{.worker = id, .throughput = throughput_of(samples, own_time)};
  judgement.baseline = baseline(worker, judgement.throughput);
  judgement.is_slow = judgement.throughput < (1.0 - config_.floor) * judgement.baseline;
  judgement.is_straggler = worker.is_straggler;
  return judgement;
}

void StragglerDetector::forget(WorkerId id) {
  Observed& worker = workers_.at(id.value);
  worker.is_straggler = false;
  worker.slow_windows = 0;
  worker.calm_windows = 0;
}

bool StragglerDetector::window_is_complete() const {
  return std::ranges::all_of(workers_, [&](const Observed& worker) {
    return !worker.is_watched || worker.window.iterations >= config_.window_iterations;
  });
}

double StragglerDetector::baseline(const Observed& worker, double throughput) const {
  if (const auto usual = median_in(worker.usual, phase_)) return *usual;
  if (!worker.is_straggler || !previous_phase_) return throughput;
  const std::optional<double> before = median_in(worker.usual, *previous_phase_);
  return before ? *before * change_since_previous_phase() : throughput;
}

// How much faster those who do not straggle are here than in the phase before.
double StragglerDetector::change_since_previous_phase() const {
  std::vector<double> changes;
  for (const Observed& worker : workers_) {
    const std::optional<double> before = median_in(worker.usual, *previous_phase_);
    if (!worker.is_watched || worker.is_straggler || worker.window.iterations == 0 || !before) continue;
    changes.push_back(throughput_of(worker.window.samples, worker.window.own_time) / *before);
  }
  return changes.empty() ? 1.0 : median(std::move(changes));
}

void StragglerDetector::conclude(Observed& worker, Judgement& judgement) const {
  const bool below_cluster =
      judgement.cluster_mean - judgement.throughput > config_.deviations * judgement.cluster_deviation;
  const bool below_baseline = judgement.throughput < (1.0 - config_.floor) * judgement.baseline;
  judgement.is_slow = below_cluster && below_baseline;
  worker.slow_windows = judgement.is_slow ? worker.slow_windows + 1 : 0;
  worker.calm_windows = judgement.is_slow ? 0 : worker.calm_windows + 1;
  if (worker.slow_windows >= config_.consecutive_windows) worker.is_straggler = true;
  if (worker.calm_windows >= config_.consecutive_windows) worker.is_straggler = false;
  judgement.is_straggler = worker.is_straggler;
  worker.window = {};
  if (judgement.is_slow || worker.is_straggler) return;
  std::deque<double>& usual = worker.usual[phase_];
  usual.push_back(judgement.throughput);
  if (usual.size() > windows_remembered) usual.pop_front();
}

}  // namespace paceline

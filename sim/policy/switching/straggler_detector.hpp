// Who straggles, told from what a coordinator sees of its workers' iterations.
//
// Models:      windows of `window` iterations of every watched worker, one after the other; a judgement of
//              each worker at the end of each window; alarms and their clearing after several windows in a
//              row.
// Equation:    throughput of worker k in a window:  S_k = Σ samples / Σ own time, own time = its compute time
//              + its own transfers + what the serial coordinator needed for it beyond the least of all
//              workers; never the time it waited for others. With S̄ and σ the mean and the (population)
//              deviation over the watched workers, k is slow in the window if both
//                S̄ − S_k > deviations · σ              (cluster rule)
//                S_k < (1 − floor) · B_k                (own baseline B_k: relative floor)
//              B_k = median of S_k over its last 20 windows in the same phase in which it was not slow, its
//              first window if there is none. A straggler that has none in the phase, because it is one since
//              before the switch to it: its baseline of the phase before, times the median of S_j / B_j over
//              the others. `consecutive` slow windows make a straggler, as many others in a row end that.
// Units:       samples per second.
// Assumptions: the first window of a worker shows it healthy: who straggles from the start on is not noticed,
//              nor while most windows remembered are of a ramp-up, which lowers the baseline. More than half
//              of the workers do not straggle at once: of two workers, neither is ever more than one
//              deviation below their mean (give fewer `deviations`).
// Not modelled: workers that answer not at all; sliding windows (these follow each other).
// Source:      Sync-Switch (Li et al., ICDCS 2021), its straggler detection: the cluster rule over
//              consecutive windows. The floor and the own baseline are ours: the cluster rule alone flags
//              somebody in most windows.
#pragma once

#include <cstddef>
#include <cstdint>
#include <deque>
#include <map>
#include <optional>
#include <span>
#include <vector>

#include "sim/base/id.hpp"
#include "sim/base/quantity.hpp"
#include "sim/policy/parameters.hpp"

namespace paceline {

struct DetectionConfig {
  std::int64_t window_iterations = 10;
  std::int64_t consecutive_windows = 3;
  double floor = 0.1;       // fraction below the own baseline
  double deviations = 1.0;  // below the cluster's mean
};
void describe(Visitor& v, DetectionConfig& c);

// One worker in one window, and what was concluded. Throughputs in samples/s.
struct Judgement {
  WorkerId worker;
  double throughput = 0.0;
  double baseline = 0.0;
  double cluster_mean = 0.0;
  double cluster_deviation = 0.0;
  bool is_slow = false;       // in this window
  bool is_straggler = false;  // from the windows so far
};

class StragglerDetector {
 public:
  StragglerDetector(const DetectionConfig& config, std::size_t workers);

  // From now on windows wait for these workers, in this phase. Windows under way begin anew.
  void watch(std::span<const WorkerId> members, std::size_t phase);
  // A watched worker has finished an iteration. Returns a judgement of every watched worker when that ends a
  // window.
  std::vector<Judgement> on_iteration(WorkerId worker, std::int64_t samples, Seconds own_time);
  // One iteration of a worker that is not watched: its throughput against its own baseline alone.
  [[nodiscard]] Judgement judge_alone(WorkerId worker, std::int64_t samples, Seconds own_time) const;
  // The worker's alarms are over and its windows under way begin anew; its baselines stay.
  void forget(WorkerId worker);

 private:
  // Of one worker, under way.
  struct Window {
    std::int64_t iterations = 0;
    std::int64_t samples = 0;
    Seconds own_time;
  };
  struct Observed {
    bool is_watched = false;
    Window window;
    std::int64_t slow_windows = 0;  // in a row
    std::int64_t calm_windows = 0;
    bool is_straggler = false;
    std::map<std::size_t, std::deque<double>> usual;  // throughputs by phase
  };

  [[nodiscard]] bool window_is_complete() const;
  [[nodiscard]] double baseline(const Observed& worker, double throughput) const;
  [[nodiscard]] double change_since_previous_phase() const;
  void conclude(Observed& worker, Judgement& judgement) const;

  DetectionConfig config_;
  std::vector<Observed> workers_;
  std::size_t phase_ = 0;
  std::optional<std::size_t> previous_phase_;
};

}  // namespace paceline

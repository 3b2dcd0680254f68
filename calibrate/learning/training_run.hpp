// How a recorded run was trained, enough to repeat its updates without a cluster, and what was recorded of
// it.
//
// Models:      phases of synchronous updates (one gradient of every worker, staleness 0), of local steps (the
//              parameters of all workers become their mean after so many) and asynchronous ones (one gradient
//              each), learning-rate drops at positions of the workload, checkpoints for which the chief of
//              the asynchronous workers stands still.
// Equation:    a synchronous update takes `workers` mini-batches, an asynchronous one takes 1. Rate of an
//              update = rate_per_gradient · gradients combined (1: local steps) · factor^(drops passed).
//              Mini-batches done at global step s: the sum over the steps of each phase times those of one of
//              its steps. Up to 4 steps a worker after an asynchronous phase that another follows
//              are still its own: workers finish their step.
// Units:       the workload in mini-batches of batch_samples; steps are updates, not re-based at a switch.
// Assumptions: momentum constant; all workers have the same batch.
// Not modelled: reactions to stragglers, batch controllers (those runs go through the simulator).
// Source:      Sync-Switch, Li et al., ICDCS 2021, section IV (policies); late ends: its recorded runs.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <vector>

namespace paceline {

struct PlanPhase {
  bool synchronous = true;
  double minibatches = 0.0;
  std::uint32_t local_steps = 0;  // of each worker, until parameters become their mean; 0: gradients meet
};

// Each time so much more of the workload is done, worker 0 pauses between two of its iterations, the others
// go on.
struct ChiefPauses {
  double every_minibatches = 0.0;
  double iterations = 0.0;  // how long: iterations of one worker that fit into it
};

struct TrainingPlan {
  std::uint32_t workers = 1;
  double batch_samples = 128.0;
  double rate_per_gradient = 0.1;
  double momentum = 0.0;
  std::vector<PlanPhase> phases;
  std::vector<double> drops_minibatches;  // positions in the workload, ascending
  double drop_factor = 0.1;
  std::optional<ChiefPauses> chief_pauses{};
  int delayed_workers = 0;                  // from the start to the end …
  std::optional<double> added_latency_s{};  // … by this for each message, where known

  [[nodiscard]] double workload_minibatches() const;
  // Of the learning rate; without one, the end of the workload.
  [[nodiscard]] double first_drop() const;
  // Mini-batches, and gradients, of one step.
  [[nodiscard]] double minibatches_per_step(const PlanPhase& phase) const {
    return phase.synchronous ? static_cast<double>(workers) * std::max(phase.local_steps, 1U) : 1.0;
  }
  // Mini-batches done after `step` updates.
  [[nodiscard]] double minibatches_at_step(double step) const;
  // Updates after which this much of the workload is done.
  [[nodiscard]] double step_at_minibatches(double minibatches) const;
};

struct PositionedValue {
  double minibatches = 0.0;  // done when it was recorded
  double value = 0.0;
};
using Curve = std::vector<PositionedValue>;
[[nodiscard]] std::vector<double> positions_of(const Curve& curve);

struct PhaseTime {
  bool synchronous = true;
  double steps = 0.0;
  double seconds_per_step = 0.0;  // pauses included
  // Where the log of the run has times:
  std::optional<double> seconds_between_pauses{};  // per step
  std::vector<double> pauses_s{};
};

struct TrainingRun {
  std::string name;   // "resnet32-cifar10-8/asp/run1"
  std::string group;  // runs of one group differ by chance only
  int classes = 10;
  TrainingPlan plan;
  Curve accuracy;  // test accuracy
  Curve loss{};    // training loss
  double final_accuracy = 0.0;
  std::vector<PhaseTime> phases{};  // empty when durations were not recorded
  std::optional<double> training_time_s{};
  std::optional<double> timed_minibatches{};  // what that time covers; absent: the workload
  std::string session{};                      // runs of one session had the same machines: a day, where known
};

struct RunGroup {
  std::string name;
  std::vector<TrainingRun> runs;  // at least one

  [[nodiscard]] const TrainingPlan& plan() const { return runs.front().plan; }
  [[nodiscard]] double mean_final_accuracy() const;
  [[nodiscard]] std::optional<double> final_accuracy_deviation() const;  // from two runs on
};
// In the order of first appearance.
[[nodiscard]] std::vector<RunGroup> group_runs(const std::vector<TrainingRun>& runs);

// Nothing for no values, and for fewer than two.
[[nodiscard]] std::optional<double> mean_of(const std::vector<double>& values);
[[nodiscard]] std::optional<double> deviation_of(const std::vector<double>& values);

// Mean over curves of the value at a position, linear between points; curves that do not reach around it are
// left out.
[[nodiscard]] std::optional<double> mean_at(std::span<const Curve* const> curves, double minibatches);
template <class Runs>
std::optional<double> mean_accuracy_at(const Runs& runs, double minibatches) {
  std::vector<const Curve*> curves;
  for (const auto& run : runs) curves.push_back(&run.accuracy);
  return mean_at(curves, minibatches);
}

}  // namespace paceline

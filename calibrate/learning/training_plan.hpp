// How a recorded run was trained: enough to repeat its updates without a cluster.
//
// Models:      phases of synchronous updates (one gradient of every worker, staleness 0) and asynchronous ones (one
//              gradient each), learning-rate drops at positions of the workload, checkpoints for which the chief of the
//              asynchronous workers stands still.
// Equation:    a synchronous update takes `workers` mini-batches, an asynchronous one takes 1. Rate of an update =
//              rate_per_gradient · gradients combined · factor^(drops passed). Mini-batches done at global step s:
//              the sum over the steps of each phase times the mini-batches of one of its steps. Up to 4 steps a worker
//              after an asynchronous phase that another follows are still its own, at its end: workers finish their step.
// Units:       the workload in mini-batches of batch_samples; steps are updates, not re-based at a switch.
// Assumptions: momentum constant; all workers have the same batch.
// Not modelled: reactions to stragglers, batch controllers (those runs go through the simulator).
// Source:      reference/sync-switch.md, sections 2 and 3; late ends: caution 5 of the recorded data.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <vector>

namespace paceline {

struct PlanPhase {
  bool synchronous = true;
  double minibatches = 0.0;
};

// Each time so much more of the workload is done, worker 0 pauses between two of its iterations, the others go on.
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

  [[nodiscard]] double workload_minibatches() const;
  // Mini-batches done after `step` updates.
  [[nodiscard]] double minibatches_at_step(double step) const;
  // Updates after which this much of the workload is done.
  [[nodiscard]] double step_at_minibatches(double minibatches) const;
};

}  // namespace paceline

// Repeats the updates of a training plan on a learning form, without a cluster and without a clock.
//
// Models:      the order of reads and applies: asynchronous workers read again at the instant their gradient
//              is applied; their iteration times are log-normal with a coefficient of variation of 10 %.
//              Worker 0, the chief, reads only after its checkpoint when one is due. Local steps are updates
//              of the mean of all workers' parameters, read as if they met at every position asked for.
// Equation:    staleness of an apply = updates since that worker's last read; its mean is workers - 1, and
//              workers - 2 while the chief stands still.
// Units:       mini-batches, updates.
// Assumptions: all workers equally fast. Gives what the simulator would give a learner for such a cluster, in
//              a form that can be repeated thousands of times: the updates are laid down once.
// Not modelled: transfers, stragglers (use the simulator).
// Source:      docs/models.md, "Learners" (the mean staleness, by counting twice).
#pragma once

#include <cstdint>
#include <memory>
#include <span>
#include <vector>

#include "calibrate/learning/training_run.hpp"
#include "sim/base/random.hpp"
#include "sim/learning/learning_form.hpp"

namespace paceline {

// Coefficient of variation of iteration times.
inline constexpr double iteration_variation = 0.10;

class UpdateTrace {
 public:
  UpdateTrace(const TrainingPlan& plan, Seed seed);

  [[nodiscard]] std::size_t updates() const { return updates_.size(); }
  [[nodiscard]] double mean_staleness() const;
  [[nodiscard]] double largest_staleness() const;

  // Drives `form` through all updates; the reading at each position (mini-batches, ascending) is the one
  // after the first update that reaches it. Positions beyond the end give the last reading.
  [[nodiscard]] std::vector<FormReading> run(LearningForm& form, std::span<const double> positions) const;

 private:
  struct Update {
    float learning_rate = 0.0F;
    std::uint32_t staleness = 0;
    std::uint32_t local_steps = 0;  // taken by each worker since the workers last met
    bool synchronous = true;
  };

  void add_synchronous(double until);
  void add_local(double until, std::uint32_t steps);
  void add_asynchronous(double until, RandomStream& random);
  [[nodiscard]] bool checkpoint_due();
  [[nodiscard]] float rate() const;

  TrainingPlan plan_;
  std::vector<Update> updates_;
  double done_minibatches_ = 0.0;
  double checkpoints_ = 0.0;  // passed so far
};

// Groups with their traces, so that several fits share the work of laying them down.
struct TracedGroup {
  RunGroup group;
  std::shared_ptr<const UpdateTrace> trace;
};
[[nodiscard]] std::vector<TracedGroup> trace_groups(const std::vector<RunGroup>& groups);

}  // namespace paceline

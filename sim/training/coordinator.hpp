// A distributed training job as a pure state machine: events in, actions out. The same object drives a
// simulation and real processes; it never reads a clock, never draws a random number, never sees costs.
//
// Models:      workers that compute gradients, synchronization policies (one for each server) that combine
//              them into updates, a batch controller, phases, pauses, evaluations, workers that leave and
//              join, the end of the job.
// Equation:    versions and staleness: update_assembly.hpp; ends of phases: workload.hpp. Learning rate:
//              sim/learning/optimizer.hpp at epoch = samples applied / dataset samples, read at the update.
// Units:       virtual or real seconds in events; samples for work.
// Assumptions: - A worker goes on when every server has let it go; its snapshot is taken at that moment.
//              - A worker that the switch policy drops does nothing but probes, whose gradients are thrown
//                away; it pulls when it is taken in again. Members change between two rounds.
//              - A new phase's workers already hold the present parameters: the pause before it pays for
//                that.
//              - A gradient that a server has decided to combine is applied even if its worker leaves; its
//                other work is given back and done by somebody. A worker that joins pulls first.
//              - A checkpoint holds up the workers released together with the chief, the lowest worker
//                present: all under BSP, the chief alone under ASP. Inline evaluation holds up every worker
//                once, when it next goes on; so does an adjustment of the batches that costs anything.
// Not modelled: membership changes with several servers (refused); loss of work since the last checkpoint.
// Source:      OmniLearn, ACSOS 2020; Sync-Switch, ICDCS 2021.
//
// Each part keeps its own state (the headers included below); what happens between them is in
// coordinator*.cpp.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "sim/learning/optimizer.hpp"
#include "sim/policy/batching/batch_controller.hpp"
#include "sim/policy/switching/switch_policy.hpp"
#include "sim/training/evaluations.hpp"
#include "sim/training/phases.hpp"
#include "sim/training/release_gate.hpp"
#include "sim/training/straggler_reaction.hpp"
#include "sim/training/update_assembly.hpp"
#include "sim/training/workers.hpp"

namespace paceline {

struct CoordinatorConfig {
  std::vector<PhaseConfig> phases;
  SwitchChoice reaction;
  BatchingConfig batching;
  std::vector<WorkerPrior> machines;   // what is declared of each worker
  std::vector<bool> present_at_start;  // by worker; empty: all are
  std::size_t servers = 1;
  OptimizerConfig optimizer;
  std::int64_t total_samples = 0;
  std::int64_t dataset_samples = 0;
  Every evaluate_every;
  bool workers_pay_for_evaluation = false;
  std::optional<double> target_accuracy;
  std::size_t evaluations_at_target = 1;  // so many in a row end the job
  bool pause_at_start = false;
  std::optional<Every> checkpoint_every;
  bool coordinate_synchronous_steps = false;
  bool pause_at_adjustment = false;
};

class Coordinator {
 public:
  explicit Coordinator(CoordinatorConfig config);

  // Appends what to do first.
  void start(Actions& actions);
  // Appends what to do next. Events after Stop are ignored.
  void handle(Seconds now, const Event& event, Actions& actions);

  [[nodiscard]] std::uint64_t updates() const { return updates_; }
  [[nodiscard]] std::int64_t applied_samples() const { return phases_.workload().applied_samples(); }
  [[nodiscard]] bool stopped() const { return stopped_; }
  // Workers that compute a gradient of the synchronous update to come, or are about to.
  [[nodiscard]] std::size_t gradients_to_come() const;
  // Who waits for what, one line each: for the message when nothing moves any more.
  [[nodiscard]] std::string describe_waiting() const;

 private:
  void on(const WorkerLeft& event, Actions& actions);
  void on(const WorkerJoined& event, Actions& actions);
  void on(const WindowClosed& event, Actions& actions);
  void on(const IterationFinished& event, Actions& actions);
  void on(const GradientArrived& event, Actions& actions);
  void on(const ParametersArrived& event, Actions& actions);
  void on(const AllReduceFinished& event, Actions& actions);
  void on(const StepFinished& event, Actions& actions);
  void on(const Coordinated& event, Actions& actions);
  void on(const CoordinationFinished& event, Actions& actions);
  void on(const PauseEnded& event, Actions& actions);
  void on(const TimerExpired& event, Actions& actions);
  void on(const Evaluated& event, Actions& actions);

  // Phases and the end (coordinator.cpp).
  void plan_phase(std::optional<PauseKind> pause, Actions& actions);
  void finish_phase_if_over(Actions& actions);
  void finish_job(Actions& actions);
  void stop(Stop reason, Actions& actions);
  void adopt(const std::optional<Allocation>& allocation, Actions& actions);

  // Gradients become updates (coordinator_updates.cpp).
  void proceed(WorkerId worker, Onward onward, Actions& actions);
  void step_locally(WorkerId worker, Actions& actions);
  void finish_local_step(PendingUpdate& update, Actions& actions);
  void send_to_servers(WorkerId worker, Actions& actions);
  void gradient_ready(WorkerId worker, ServerId server, Actions& actions);
  void carry_out(const SynchronizationDecision& decision, ServerId server, Actions& actions);
  [[nodiscard]] std::vector<WorkerId> let_go(const std::vector<WorkerId>& workers, ServerId server);
  void combine(const SynchronizationDecision& decision, ServerId server, Actions& actions);
  [[nodiscard]] UpdateId begin_update(const std::vector<WorkerId>& workers);
  void finish_step(UpdateId id, ServerId server, Actions& actions);
  void count_update(const PendingUpdate& update, Actions& actions);
  // An all-reduce has lost a member, with its gradient.
  void reduce_without(WorkerId worker, Actions& actions);
  void step_on_members(UpdateId update, Actions& actions);
  void drop_iteration(WorkerId worker, Actions& actions);
  [[nodiscard]] Hyperparameters hyperparameters(const PendingUpdate& update) const;
  [[nodiscard]] Hyperparameters hyperparameters(std::size_t gradients, std::int64_t samples) const;
  [[nodiscard]] UpdateContext update_context(std::size_t gradients, std::int64_t samples) const;
  [[nodiscard]] std::optional<OuterStep> outer_step(bool completes);
  // Of the exchange that comes next in a phase that exchanges part by part, or of the one before.
  [[nodiscard]] std::optional<Fragment> fragment(std::uint64_t exchange) const;
  void take_in(const PendingUpdate& update);

  // Workers go on (coordinator_release.cpp).
  void release_round(std::vector<WorkerId> workers, Actions& actions);
  void release(std::vector<WorkerId> workers, Actions& actions);
  void release_together(std::vector<WorkerId> workers, Actions& actions);
  void release_alone(WorkerId worker, Actions& actions);
  void offer_work_given_back(Actions& actions);
  void plan_checkpoint(const std::vector<WorkerId>& workers);
  void begin_iteration(WorkerId worker, Actions& actions);
  void next_pause_or_go_on(WorkerId worker, Actions& actions);
  void go_on(WorkerId worker, Actions& actions);
  void receive(WorkerId worker, bool only_answers, Actions& actions);
  void start_iteration(WorkerId worker, Actions& actions);
  void take_snapshots(WorkerId worker, bool all, Actions& actions);
  // While its difference travels.
  void train_on(WorkerId worker, Actions& actions);
  void end_overlap(WorkerState& worker, Actions& actions);
  [[nodiscard]] std::int64_t local_steps_of(WorkerId worker) const;

  // Members change, and those dropped are probed (coordinator_release.cpp).
  void regroup(std::vector<WorkerId>& workers, Actions& actions);
  void take_in_again(WorkerId worker, Actions& actions);
  void restore_all(Actions& actions);
  void probe_dropped(const std::vector<WorkerId>& members_released, Actions& actions);
  void finish_probe(WorkerId worker, Actions& actions);

  [[nodiscard]] Workload& workload() { return phases_.workload(); }
  [[nodiscard]] Done done() const { return {now_, updates_, applied_samples()}; }

  CoordinatorConfig config_;
  Phases phases_;
  UpdateAssembly assembly_;
  ReleaseGate gate_;
  StragglerReaction reaction_;
  Evaluations evaluations_;
  std::optional<Recurrence> checkpoints_;
  std::unique_ptr<BatchController> batch_controller_;
  Batches batches_;
  Workers workers_;
  Seconds now_;
  std::uint64_t updates_ = 0;  // complete
  std::uint64_t gradients_begun_ = 0;
  std::uint64_t windows_opened_ = 0;
  std::vector<std::uint64_t> open_windows_;  // by server, 0 where none is open
  std::int64_t buffered_ = 0;                // differences, since the latest outer step
  std::uint64_t exchanges_ = 0;              // of fragments, in this phase
  std::size_t training_on_ = 0;              // workers
  std::optional<UpdateId> reduced_;          // its outer step waits for them
  bool work_done_ = false;
  bool stopped_ = false;
};

}  // namespace paceline

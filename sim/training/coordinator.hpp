// A distributed training job as a pure state machine: events in, actions out.
//
// Models:      workers that compute gradients, synchronization policies (one for each server) that combine them into
//              updates, a batch controller, phases, pauses, evaluations, workers that leave and join, the end of the
//              job. The same object drives a simulation and, later, real processes; it never reads a clock, never draws
//              a random number, never sees costs.
// Equation:    version of a shard after a step = version before + 1; staleness of a gradient on a shard = version when
//              it is applied - version its worker pulled. Learning rate: sim/learning/optimizer.hpp at epoch = samples
//              applied / dataset samples, read when the update is applied. Weights: sim/policy/batching/weighting.hpp.
// Units:       virtual or real seconds in events; samples for work.
// Assumptions: - A worker goes on when every server has let it go; the snapshot it receives is taken at that moment.
//              - A worker that the switch policy drops does nothing but probes, whose gradients are thrown away; it pulls
//                when it is taken in again. Members change between two rounds, when nothing is under way.
//              - A new phase's workers already hold the present parameters: the pause before it pays for that.
//              - A gradient that a server has decided to combine is applied even if its worker leaves; any other
//                work of a worker that leaves is given back and done by somebody. A worker that joins pulls first.
//              - A checkpoint holds up the workers released together with the chief, the lowest worker present: all
//                under BSP, the chief alone under ASP. Inline evaluation holds up every worker once, when it next goes on;
//                the one before the first update holds up nobody. So does an adjustment of the batches, if it costs
//                anything: several before a worker goes on cost it once.
// Not modelled: membership changes with several servers (refused); loss of work since the last checkpoint.
// Source:      design section 3; OmniLearn and Sync-Switch references.
#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "sim/learning/optimizer.hpp"
#include "sim/policy/batching/batch_controller.hpp"
#include "sim/policy/switching/switch_policy.hpp"
#include "sim/policy/synchronization/synchronization.hpp"
#include "sim/training/action.hpp"
#include "sim/training/event.hpp"
#include "sim/training/recurrence.hpp"
#include "sim/training/worker_state.hpp"
#include "sim/training/workload.hpp"

namespace paceline {

struct CoordinatorConfig {
  std::vector<PhaseConfig> phases;
  ReactionConfig reaction;
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
  [[nodiscard]] std::int64_t applied_samples() const { return workload_.applied_samples(); }
  [[nodiscard]] bool stopped() const { return stopped_; }
  // Who waits for what, one line each: for the message when nothing moves any more.
  [[nodiscard]] std::string describe_waiting() const;

 private:
  void on(const WorkerLeft& event, Actions& actions);
  void on(const WorkerJoined& event, Actions& actions);
  void on(const IterationFinished& event, Actions& actions);
  void on(const GradientArrived& event, Actions& actions);
  void on(const ParametersArrived& event, Actions& actions);
  void on(const AllReduceFinished& event, Actions& actions);
  void on(const StepFinished& event, Actions& actions);
  void on(const CoordinationFinished& event, Actions& actions);
  void on(const PauseEnded& event, Actions& actions);
  void on(const TimerExpired& event, Actions& actions);
  void on(const Evaluated& event, Actions& actions);

  // Phases and the end (coordinator.cpp).
  void plan_phase(std::optional<PauseKind> pause, Actions& actions);
  void enter_phase(Actions& actions);
  void finish_phase_if_over(Actions& actions);
  [[nodiscard]] bool enter_following_phase();
  void finish_job(Actions& actions);
  void evaluate(Actions& actions);
  void stop(Stop reason, Actions& actions);

  // Gradients become updates (coordinator_updates.cpp).
  void send_to_servers(WorkerId worker, Actions& actions);
  void gradient_ready(WorkerId worker, ServerId server, Actions& actions);
  void carry_out(const SynchronizationDecision& decision, ServerId server, Actions& actions);
  [[nodiscard]] std::vector<WorkerId> wait_for_own_updates(const std::vector<WorkerId>& workers,
                                                           ServerId server);
  [[nodiscard]] std::vector<WorkerId> let_go_by(const std::vector<WorkerId>& released_by_one_server);
  void begin_update(const SynchronizationDecision& decision, ServerId server, Actions& actions);
  void add_to(PendingUpdate& update, UpdateId id, WorkerId worker);
  void begin_parameter_exchange(WorkerId worker, Actions& actions);
  void finish_local_step(UpdateId id, PendingUpdate& update, Actions& actions);
  void finish_shard(UpdateId id, ServerId server, Actions& actions);
  void apply_shard(UpdateId id, ServerId server, bool completes, Actions& actions);
  void count_update(const PendingUpdate& update, Actions& actions);
  void drop_iteration(WorkerId worker, Actions& actions);
  [[nodiscard]] Hyperparameters hyperparameters(const PendingUpdate& update) const;
  [[nodiscard]] static std::int64_t samples_of(const PendingUpdate& update);

  // Workers go on (coordinator_release.cpp).
  void release_round(std::vector<WorkerId> workers, Actions& actions);
  void release(std::vector<WorkerId> workers, Actions& actions);
  void offer_work_given_back(Actions& actions);
  void adopt(const std::optional<Allocation>& allocation, Actions& actions);
  void release_held(Actions& actions);
  void plan_checkpoint(const std::vector<WorkerId>& workers);
  void next_pause_or_go_on(WorkerId worker, Actions& actions);
  void go_on(WorkerId worker, Actions& actions);
  void send_parameters(WorkerId worker, Actions& actions);
  void start_iteration(WorkerId worker, Actions& actions);

  // The switch policy sees and decides (coordinator_reaction.cpp).
  void note_own_time(WorkerId worker, std::int64_t samples);
  void note_coordination(const std::vector<std::pair<WorkerId, Seconds>>& with_worker);
  void tell_switch_policy(Actions& actions);
  void react(const Reaction& reaction, Actions& actions);
  void regroup(std::vector<WorkerId>& workers, Actions& actions);
  void take_in_again(WorkerId worker, Actions& actions);
  void restore_all(Actions& actions);
  void probe_if_due(const std::vector<WorkerId>& members_released, Actions& actions);
  void start_probe(WorkerId worker, Actions& actions);
  void finish_probe(WorkerId worker, Actions& actions);

  [[nodiscard]] const PhaseConfig& phase() const { return config_.phases[workload_.phase()]; }
  [[nodiscard]] bool uses_servers() const { return phase().transport == Transport::server; }
  [[nodiscard]] std::size_t deciding_servers() const { return uses_servers() ? config_.servers : 1; }
  [[nodiscard]] WorkerState& state(WorkerId worker) { return workers_.at(worker.value); }
  [[nodiscard]] std::vector<WorkerId> present_workers() const;
  [[nodiscard]] std::vector<WorkerId> members() const;  // present and not dropped
  [[nodiscard]] bool is_member(WorkerId worker) const {
    const WorkerState& state = workers_.at(worker.value);
    return state.is_present() && !state.is_dropped;
  }
  [[nodiscard]] std::optional<SinceSwitch> since_switch() const;
  [[nodiscard]] double epoch() const;
  [[nodiscard]] Done done() const { return {now_, updates_, workload_.applied_samples()}; }

  // Of a worker's last iteration, until the switch policy is told.
  struct Observed {
    WorkerId worker;
    std::int64_t samples = 0;
    Seconds own_time;
  };

  CoordinatorConfig config_;
  Workload workload_;
  Recurrence evaluations_;
  std::optional<Recurrence> checkpoints_;
  std::unique_ptr<BatchController> batch_controller_;
  std::unique_ptr<SwitchPolicy> switch_policy_;
  std::vector<Observed> observed_;
  std::optional<std::size_t> detour_;  // the phase to go to when the present one is over, early
  std::vector<WorkerId> to_drop_;      // between this round and the next
  std::vector<WorkerId> to_restore_;
  std::optional<Done> switched_at_;  // to the present phase, if it is asynchronous
  std::vector<std::unique_ptr<SynchronizationPolicy>> policies_;  // of the present phase, by server
  Batches batches_;
  std::vector<WorkerState> workers_;
  std::vector<WorkerId> refused_;  // asked for work when there was none
  std::vector<WorkerId> held_;     // by the batch controller, free to go on otherwise
  std::map<UpdateId, PendingUpdate> pending_updates_;
  std::map<UpdateId, std::vector<WorkerId>> coordinating_;  // who goes on afterwards
  std::vector<std::uint64_t> versions_;                     // by server
  Seconds now_;
  std::uint64_t updates_ = 0;  // complete
  std::uint64_t updates_begun_ = 0;
  std::uint64_t gradients_begun_ = 0;
  std::uint64_t last_evaluated_ = 0;
  int evaluations_under_way_ = 0;
  std::vector<std::uint64_t> reached_after_updates_;  // evaluations in a row at or above the target
  std::optional<PauseKind> planned_pause_;            // before the phase that is planned
  bool phase_planned_ = false;                        // its workers pause before it begins
  bool work_done_ = false;
  bool stopped_ = false;
};

}  // namespace paceline

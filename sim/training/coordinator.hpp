// A distributed training job as a pure state machine: events in, actions out.
//
// Models:      workers that compute gradients, a synchronization policy that combines them into updates, a batch
//              controller, phases, evaluations and the end of the job. The same object drives a simulation and,
//              later, real processes; it never reads a clock, never draws a random number, never sees costs.
// Equation:    version after an update = version before + 1; staleness of a gradient = version when it is applied -
//              version its worker pulled. Learning rate: sim/learning/optimizer.hpp at epoch = samples applied /
//              dataset samples, read when the update is applied. Weights: sim/policy/weighting.hpp.
// Units:       virtual or real seconds in events; samples for work.
// Assumptions: a worker has one iteration, gradient or message under way at a time; over a server, the snapshot a
//              released worker receives is taken right after the update that releases it; at the start of a phase
//              every worker already holds the present parameters (the pause before the phase pays for that).
// Not modelled: leaving and joining workers, checkpoints, several servers.
// Source:      design section 3; OmniLearn and Sync-Switch references.
#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "sim/learning/optimizer.hpp"
#include "sim/policy/batch_controller.hpp"
#include "sim/policy/synchronization.hpp"
#include "sim/training/action.hpp"
#include "sim/training/evaluation_plan.hpp"
#include "sim/training/event.hpp"
#include "sim/training/workload.hpp"

namespace paceline {

struct CoordinatorConfig {
  std::vector<PhaseConfig> phases;
  BatchingConfig batching;
  std::vector<double> calibrated_throughput;  // samples/s at the initial batch, one for each worker
  OptimizerConfig optimizer;
  std::int64_t total_samples = 0;
  std::int64_t dataset_samples = 0;
  EvaluationEvery evaluate_every;
  std::optional<double> target_accuracy;
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
  enum class Doing { idle, computing, sending, waiting_for_update, receiving };
  struct WorkerState {
    Doing doing = Doing::idle;
    std::uint64_t iterations = 0;    // started so far
    std::int64_t batch_samples = 0;  // of the gradient under way
    GradientId gradient;
    std::uint64_t pulled_version = 0;
  };
  struct PendingUpdate {
    std::vector<WorkerId> combine;
    std::vector<WorkerId> release;
  };

  void on(const IterationFinished& event, Actions& actions);
  void on(const GradientArrived& event, Actions& actions);
  void on(const ParametersArrived& event, Actions& actions);
  void on(const AllReduceFinished& event, Actions& actions);
  void on(const StepFinished& event, Actions& actions);
  void on(const PauseEnded& event, Actions& actions);
  void on(const Evaluated& event, Actions& actions);

  void gradient_ready(WorkerId worker, Actions& actions);
  void begin_update(SynchronizationDecision decision, Actions& actions);
  void apply_update(UpdateId id, const PendingUpdate& update, Actions& actions);
  void begin_phase(Actions& actions);
  void finish_phase(Actions& actions);
  void release(const std::vector<WorkerId>& workers, bool parameters_travel, Actions& actions);
  void start_iteration(WorkerId worker, Actions& actions);
  void finish_job(Actions& actions);
  void stop(EndReason reason, Actions& actions);

  [[nodiscard]] const PhaseConfig& phase() const { return config_.phases[workload_.phase()]; }

  CoordinatorConfig config_;
  Workload workload_;
  EvaluationPlan evaluation_plan_;
  std::unique_ptr<BatchController> batch_controller_;
  std::unique_ptr<SynchronizationPolicy> synchronization_;
  Batches batches_;
  std::vector<WorkerState> workers_;
  std::map<UpdateId, PendingUpdate> pending_updates_;
  std::uint64_t updates_ = 0;  // applied: the version of the parameters
  std::uint64_t updates_begun_ = 0;
  std::uint64_t gradients_begun_ = 0;
  std::optional<std::uint64_t> last_evaluated_;
  std::size_t pauses_left_ = 0;
  bool work_done_ = false;
  bool stopped_ = false;
};

}  // namespace paceline

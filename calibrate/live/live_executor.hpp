// Carries out a coordinator's actions for real: worker processes compute, messages travel, time is the
// machine's.
//
// Models:      nothing: what the simulation's executor (sim/engine/executor.hpp) models happens. The server
//              is this process: it holds the parameters, applies one gradient at a time in the order in which
//              they have arrived, and asks the coordinator after each event.
// Assumptions: - Parameters are sent together with the order to begin the iteration they are for, and a
//                worker sends its gradient as soon as it is computed, unless it keeps it: what the
//                coordinator would ask for next. The coordinator hears of each when it has happened.
//              - A worker that is called off finishes what it computes; what it sends then is ignored.
//              - Pauses (starts, switches, checkpoints, adjustments) and the serial part of a synchronous
//                step take the time the scenario declares. With restarts a switch takes what it takes: the
//                state is saved, the workers' processes end and start anew, the state is read again, and each
//                worker goes on when it is ready. An evaluation is really made, by a process of its
//                own; with `who_pays: free` once nothing else is left to do, of parameters kept until
//                then in memory: it takes no time from workers, and a target is found to be reached
//                only then (EventLog::take_with_results_at_once).
//              - A worker is made slower by resting after each gradient, or by a quota of processor time
//                (cpu_budget.hpp); a change of its speed counts from its next gradient on. One that leaves
//                by the schedule keeps its process.
//              - A worker whose process ends, that stays silent, or says what cannot be has left the job; one
//                that is in an all-reduce takes its gradient along, and the others begin it again.
//              - In a phase with an all-reduce each worker steps on a replica of its own: parameters and what
//                the optimizer remembers. The server asks for one where it needs them (to evaluate, for who
//                joins, for the phase that follows), and hands one to each worker as such a phase begins.
//              - Where parameters are exchanged a worker keeps its gradient until it is told the step's
//                rate, and sends the copy it arrives at: one message more each way than a program that
//                knows its rate.
// Not modelled: several servers; local training; links, which the crew has.
#pragma once

#include <cstdint>
#include <deque>
#include <filesystem>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "calibrate/live/crew.hpp"
#include "calibrate/live/live_clock.hpp"
#include "calibrate/live/live_ring.hpp"
#include "sim/cluster/conditions.hpp"
#include "sim/cost/fixed_costs.hpp"
#include "sim/engine/executor.hpp"
#include "sim/engine/observer.hpp"
#include "sim/learning/network_state.hpp"
#include "sim/training/coordinator.hpp"

namespace paceline::live {

struct LiveJob {
  std::size_t workers = 0;  // the evaluator is the member after them
  std::size_t parameter_count = 0;
  std::size_t statistics_count = 0;
  FixedCosts costs;
  std::vector<bool> reduces_all{};  // by phase: workers sum their gradients among themselves
  GradientWeighting weighting = GradientWeighting::by_batch;
  double momentum = 0.0;  // of synchronous phases
  bool momentum_at_workers = false;
  std::optional<std::filesystem::path> checkpoint{};  // file; absent: processes go on at a switch
  std::size_t replicas_to_keep = 0;                   // of the state after each of so many first updates
  std::vector<double> speeds;                         // of each worker while nothing changes them
  Heterogeneity heterogeneity;                        // of speeds, members and links; of cores none
  std::vector<std::uint32_t> random_streams;
  Seed seed;
  std::int64_t total_samples = 1;
  std::int64_t dataset_samples = 1;
  Seconds patience{60.0};  // with a worker that owes something and says nothing
};

// Of one worker at a switch.
struct Restart {
  Seconds at;
  WorkerId worker;
  Seconds took;  // from the end of the last phase until it can go on
};

struct LostWorker {
  Seconds at;
  WorkerId worker;
  std::string reason;
};

class LiveExecutor {
 public:
  LiveExecutor(Coordinator& coordinator, Crew& crew, NetworkState& state, LiveJob job, RunObserver& observer);

  // Runs the job to its Stop; a value when it stalled instead. `progress` hears of samples applied. Throws
  // Interrupted, and std::runtime_error when the evaluator is lost.
  template <class Progress>
  [[nodiscard]] std::optional<Stalled> run(const Progress& progress) {
    begin();
    while (!is_over()) {
      progress(applied_samples_);
      step();
    }
    return stalled_;
  }

  [[nodiscard]] const std::vector<LostWorker>& lost() const { return lost_; }
  [[nodiscard]] const std::vector<Restart>& restarts() const { return restarts_; }
  // What messages took of processors: the server's for each gradient beside applying it, a worker's for each
  // of the two messages of an iteration, or of those of an all-reduce.
  [[nodiscard]] CommunicationCost communication() const;
  [[nodiscard]] std::vector<Replica> take_replicas() { return std::move(kept_replicas_); }
  // Bytes of gradients and parameters, by worker.
  [[nodiscard]] const std::vector<double>& bytes_received() const { return bytes_received_; }
  [[nodiscard]] const std::vector<double>& bytes_sent() const { return bytes_sent_; }

 private:
  // A gradient that a worker was asked for and that has not arrived in full.
  struct Asked {
    GradientId gradient;
    std::int64_t at_ns = 0;
    std::int64_t batch_samples = 0;
    bool is_kept = false;       // for an all-reduce
    bool is_own = false;        // for a step on the worker's own copy
    bool is_stepped = false;    // which counts
    bool is_started = false;    // the coordinator has begun the iteration
    bool is_announced = false;  // the coordinator waits to hear that the parameters are there
    bool awaits_parameters = false;
    bool is_computed = false;
    bool is_called_off = false;
  };
  struct LiveWorker {
    bool is_lost = false;
    bool is_restarting = false;
    std::optional<Pause> rests_for{};        // until it has restarted
    bool holds_its_copy = true;              // the process has the copy that the server keeps for it
    std::optional<std::uint64_t> replica{};  // its version of the parameters to step on
    std::uint64_t samples_started = 0;
    std::int64_t last_news_ns = 0;
    std::deque<Asked> asked;
  };
  // A gradient that its worker has computed and keeps.
  struct Kept {
    WorkerId worker;
    std::int64_t batch_samples = 0;
  };
  struct Timer {
    Seconds date;
    Event event;
  };

  void begin();
  // Waits for what happens next, and lets the coordinator answer it.
  void step();
  [[nodiscard]] bool is_over() const { return stalled_ || coordinator_.stopped(); }
  void deliver(const Event& event);
  void deliver_pending();
  void carry_out(const Actions& actions);
  void take(News news);
  void dismiss_silent_workers();
  // But for evaluations put off, and workers that will join.
  [[nodiscard]] bool is_idle() const;

  void on(const Restarted& news);
  void on(WorkerId worker, const Received& message);
  void on(WorkerId worker, const Computed& message);
  void on(WorkerId worker, GradientValues message);
  void on(WorkerId worker, const CallOff& message);
  void on(WorkerId worker, const RingAddress& message);
  void on(WorkerId worker, const Reduced& message);
  void on(WorkerId worker, const RingBroke& message);
  void on(WorkerId worker, Handover message);
  void on_evaluation(const Message& message);
  // Such a message cannot come from a worker that does what it was asked for.
  void refuse(WorkerId worker, const std::string& what);
  [[nodiscard]] Asked* find(WorkerId worker, std::uint64_t gradient);
  void ask(WorkerId worker, GradientId gradient, std::int64_t batch_samples, bool with_parameters,
           const std::optional<Hyperparameters>& own_step);

  void carry_out(const StartIteration& action);
  void carry_out(const TrainOn& action);
  void carry_out(const SendGradient&) {}  // it follows by itself
  void carry_out(const SendParameters& action);
  void carry_out(const AllReduce& action);
  void carry_out(const Accumulate&) {}  // a gradient is added as the step is made
  void carry_out(const Step& action);
  void carry_out(const LocalStep& action);
  void carry_out(const Coordinate& action);
  void carry_out(const Pause& action);
  void carry_out(const OpenWindow& action);
  void carry_out(const SetTimer& action);
  void carry_out(const Evaluate& action);
  void carry_out(const Apply& action);
  void carry_out(const ApplyLocally& action);
  void carry_out(const Overwrite& action);
  void carry_out(const TakeSnapshot& action);
  void carry_out(const Discard& action);
  void carry_out(const ScaleVelocity& action);
  void carry_out(const AdoptBatches&) {}
  void carry_out(const EnterPhase& action) {
    is_all_reduce_ = action.phase < job_.reduces_all.size() && job_.reduces_all[action.phase];
    has_restarted_ = false;
  }
  void carry_out(const Judge&) {}
  void carry_out(const Decide&) {}
  void carry_out(const Stop&) {}

  void evaluate_next();

  // At a switch (live_executor_restart.cpp).
  void restart_before(const Pause& pause);
  void restart_workers();
  void end(const Pause& pause);

  // With steps on own copies (live_executor_exchange.cpp).
  bool keep_own(WorkerId worker, const Computed& message, const Asked& computed);
  // With an all-reduce (live_executor_ring.cpp).
  bool keep(WorkerId worker, const Computed& message);
  void apply_on_replicas(const Apply& action);
  void hand_over(WorkerId worker, GradientId gradient);
  // The server's parameters are those of the last update, from whoever has them. Others' news wait meanwhile.
  void take_over_latest();
  bool take_over_from(WorkerId worker);
  void put_off(News news);
  // Speeds and members change: workers and coordinator hear of it.
  void follow_conditions();
  void call_off_all(WorkerId worker);
  void call_off(WorkerId worker, Asked& asked);
  void at(Seconds date, Event event);

  Coordinator& coordinator_;
  Crew& crew_;
  NetworkState& state_;
  LiveJob job_;
  RunObserver& observer_;
  LiveClock clock_;
  Conditions conditions_;
  Seconds now_;
  std::vector<LiveWorker> workers_;
  std::deque<Event> pending_;
  std::deque<News> backlog_;  // arrived while the job stood still
  std::vector<Timer> timers_;
  std::set<GradientId> held_;
  std::map<GradientId, Kept> kept_;
  LiveRing ring_;
  std::int64_t reduction_began_ns_ = 0;
  bool is_all_reduce_ = false;
  std::set<GradientId> own_;            // whose steps on copies do not count yet
  std::optional<UpdateId> reduced_;     // all members hold its sum
  std::uint64_t version_ = 0;           // of the parameters
  std::uint64_t servers_version_ = 0;   // those that the server has
  std::optional<WorkerId> hands_over_;  // who was asked for its replica
  std::vector<Replica> kept_replicas_;
  std::size_t evaluations_under_way_ = 0;
  std::deque<EvaluationRequest> evaluations_put_off_;  // those that nobody pays for
  std::int64_t applied_samples_ = 0;
  std::int64_t began_processor_ns_ = 0;  // processor time of this thread
  std::int64_t applying_ns_ = 0;
  std::uint64_t gradients_arrived_ = 0;
  std::int64_t workers_messages_ns_ = 0;
  std::uint64_t iterations_with_messages_ = 0;
  std::vector<LostWorker> lost_;
  std::vector<Restart> restarts_;
  bool has_restarted_ = false;  // before the phase that begins next
  Seconds restart_began_;
  std::vector<double> bytes_received_;
  std::vector<double> bytes_sent_;
  std::optional<Stalled> stalled_;
};

}  // namespace paceline::live

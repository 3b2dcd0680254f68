// Carries out a coordinator's actions in virtual time, on a simulation model of the cluster.
//
// Models:      true costs (compute with jitter, servers, pauses, coordination), conditions that change while
//              the job runs, the learner, and a timeline on which all of it takes place. Policies inside the
//              coordinator never see any of these but through events.
// Equation:    an iteration is work of ComputeTimes::iteration seconds at speed 1, done at the rate the
//              worker's condition allows: it ends when ∫ rate dt = work. Each server holds a part of the
//              parameters (shards.hpp) and serves one operation at a time in the order asked: end = max(now,
//              end of the one before) + bytes / rate. A local step takes the slowest member's time. Latency
//              added to a worker's iteration delays what it sends. What a worker's messages took of its
//              processor is work of its next iteration; worker_overlap of it begins when a message is sent
//              (without what holds it back), unless the worker computes then, and what is left of that is
//              work of the next iteration, too. A gradient that is summed in buckets passes a mark where each
//              of them is ready (bucketed_round.hpp).
// Units:       seconds, bytes.
// Assumptions: a gradient and the parameters have the profile's parameter_bytes. What is called off stops at
//              once on the worker; messages that it has already sent travel on and are ignored.
// Not modelled: overlap of messages to and from servers with backward.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <variant>
#include <vector>

#include "sim/base/quantity.hpp"
#include "sim/cluster/conditions.hpp"
#include "sim/cluster/network_engine.hpp"
#include "sim/cost/compute_time.hpp"
#include "sim/cost/fixed_costs.hpp"
#include "sim/cost/message_delay.hpp"
#include "sim/engine/bucketed_round.hpp"
#include "sim/engine/computations.hpp"
#include "sim/engine/observer.hpp"
#include "sim/engine/shared_machines.hpp"
#include "sim/engine/timeline.hpp"
#include "sim/learning/learner.hpp"
#include "sim/training/coordinator.hpp"

namespace paceline {

struct SimulationModel {
  ComputeTimes compute;
  ServerTimes server;
  Bytes parameter_bytes;
  std::vector<ServerShard> shards;  // by server
  FixedCosts costs;
  Heterogeneity heterogeneity;
  std::int64_t total_samples = 1;  // of the job and of the data set: what epochs and progress refer to
  std::int64_t dataset_samples = 1;
  Seed seed;
  std::vector<SharedMachine> shared_machines{};
  Shortcuts shortcuts = Shortcuts::on;  // off: local steps are taken one by one
  MessageDelays delays{};
  std::vector<GradientVariable> variables{};  // for buckets
};

// Nothing is left to happen although the job is not over: a result with a name, not a crash.
struct Stalled {
  Seconds at;
  std::string waiting;  // who waits for what
};

class Executor {
 public:
  Executor(Coordinator& coordinator, const SimulationModel& model, Learner& learner, Timeline& timeline,
           RunObserver& observer);

  // Runs the job to its Stop; a value when it stalled instead.
  [[nodiscard]] std::optional<Stalled> run();

 private:
  bool deliver(const std::vector<Occurrence>& occurrences);
  struct Sum {  // by an all-reduce; `finish` when it is over
    Transport transport = Transport::ring;
    std::vector<WorkerId> members;
    Bytes size;
    Occurrence finish;
  };
  using Send = std::variant<SendGradient, SendParameters, Sum>;
  void send_after(Seconds delay, const Send& action);
  void send_delayed(const std::vector<Occurrence>& occurrences);
  bool deliver_events();
  void carry_out(const Actions& actions);

  void carry_out(const StartIteration& action);
  void carry_out(const TrainOn& action);
  void carry_out(const SendGradient& action);
  void carry_out(const SendParameters& action);
  void carry_out(const AllReduce& action);
  void carry_out(const Accumulate& action);
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
  void carry_out(const AdoptBatches& action);
  void carry_out(const EnterPhase&) {}
  void carry_out(const Judge&) {}
  void carry_out(const Decide&) {}
  void carry_out(const Stop&) {}

  [[nodiscard]] static bool counts(const Event& event);
  [[nodiscard]] static bool counts(const Occurrence& occurrence);
  void at(Seconds date, Occurrence occurrence);
  void send(Endpoint from, Endpoint to, Bytes size, Event arrival);
  void begin_computation(const StartIteration& action);
  // Returns the marks at which buckets of its gradient are ready.
  std::span<const double> join_round(const StartIteration& action);
  void add_up(const Sum& sum);
  void begin_next_bucket();
  void call_off(const BucketSummed& sum);
  void compute(const StartIteration& action, Seconds messages, Seconds computed_before);
  void compute_at_once(const StartIteration& action, Seconds messages, Seconds computed_before);
  // One by one: whether a worker that ended a local step has begun the next one of its stretch.
  bool takes_next_step(const Event& event);
  [[nodiscard]] Seconds work_of(const StartIteration& action) const;
  // What its batch takes the worker besides, if it is a new one to it.
  [[nodiscard]] Seconds preparation(const StartIteration& action);
  // What going on now takes the worker, whose rest is over.
  [[nodiscard]] Seconds resume(WorkerId worker);
  void send_now(const SendGradient& action);
  void send_now(const SendParameters& action);
  void send_now(const Sum& sum);
  // Queues work on a server: a step of an update, or an accumulation.
  void occupy(ServerId server, Seconds duration, std::optional<UpdateId> step);
  [[nodiscard]] const ServerShard& shard(ServerId server) const { return model_.shards.at(server.value); }
  [[nodiscard]] Bytes size_of(const SendParameters& action) const;
  // What a message that is being sent takes of the worker's processor, now or with its next iteration.
  void charge(WorkerId worker, double messages, Bytes bytes);
  // It has left, and owes nothing for them when it comes back.
  void drop_messages(WorkerId worker);

  // Speeds, links and members change: returns what the coordinator hears of it.
  std::vector<Event> follow_conditions();
  void schedule_conditions_change();
  [[nodiscard]] JobPosition position() const;
  [[nodiscard]] double rate(WorkerId worker, std::int64_t batch_samples) const;
  [[nodiscard]] WorkerPace pace(WorkerId worker, std::int64_t batch_samples) const;
  // The ends of what is computed on shared machines, once all that happens at a date has happened.
  void schedule_shared_machines();
  // Tells the observer how well the batches in force fit the workers as they are now.
  void observe_balance(BalanceCause cause);

  Coordinator& coordinator_;
  const SimulationModel& model_;
  Learner& learner_;
  Timeline& timeline_;
  RunObserver& observer_;
  Conditions conditions_;
  Computations computations_;
  SharedMachines shared_machines_;
  std::vector<Event> events_;                // of the present date, still to be delivered
  Actions actions_;                          // that the last of them led to
  std::vector<WeightedGradient> gradients_;  // of the update being applied
  Batches batches_;                          // in force; empty before the job begins
  std::map<std::uint64_t, Send> held_back_;  // by added latency, or a random delay
  std::uint64_t held_back_so_far_ = 0;
  struct ServerQueue {
    Seconds free_at;
    Seconds later;  // of an update under way: what nobody waits for
  };
  std::vector<ServerQueue> server_queues_;
  std::vector<Seconds> owed_to_messages_;  // processor time of each worker since its last iteration began
  std::vector<std::optional<Seconds>> rests_since_;  // absent: it computes, or has been called off
  std::vector<std::set<std::int64_t>> prepared_;     // batches that each worker has had since its start
  // Local steps taken one by one: what each worker has still to do.
  std::vector<std::optional<StartIteration>> rest_of_stretch_;
  std::optional<BucketSizes> bucket_sizes_;  // of `round_`, once gradients were summed in buckets
  BucketedRound round_;
  Seconds evaluator_free_at_;
  Seconds last_event_at_;
  std::int64_t applied_samples_ = 0;
  bool progress_moved_ = false;
  std::uint64_t under_way_ = 0;  // occurrences still to come that can bring the job forward
  std::optional<Seconds> conditions_change_at_;
};

}  // namespace paceline

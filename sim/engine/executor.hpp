// Carries out a coordinator's actions in virtual time: the world a simulated job runs in.
//
// Models:      true costs (compute with jitter, server, optimizer step), the learner, and a timeline on which they
//              take place. Policies inside the coordinator never see any of these but through events.
// Equation:    an iteration takes ComputeTimes::iteration; a server serves one operation at a time in the order asked:
//              end = max(now, end of the one before) + bytes / rate; a step on members takes the slowest member's.
// Units:       seconds, bytes.
// Assumptions: evaluation is free; a gradient and the parameters have the profile's parameter_bytes.
// Not modelled: overlap of communication with backward; paid evaluation.
// Source:      design sections 3 and 5.
#pragma once

#include <cstdint>
#include <string>

#include "sim/base/quantity.hpp"
#include "sim/cost/compute_time.hpp"
#include "sim/cost/server_time.hpp"
#include "sim/engine/observer.hpp"
#include "sim/engine/timeline.hpp"
#include "sim/learning/learner.hpp"
#include "sim/training/coordinator.hpp"

namespace paceline {

struct World {
  ComputeTimes compute;
  ServerTimes server;
  Bytes parameter_bytes;
  std::vector<Seconds> switch_cost;  // by phase
};

// Nothing is left to happen although the job is not over: a result with a name, not a crash.
struct Stalled {
  Seconds at;
  std::string waiting;  // who waits for what
};

class Executor {
 public:
  Executor(Coordinator& coordinator, const World& world, Learner& learner, Timeline& timeline,
           RunObserver& observer);

  // Runs the job to its Stop; a value when it stalled instead.
  [[nodiscard]] std::optional<Stalled> run();

 private:
  bool deliver(Seconds now, const std::vector<Occurrence>& occurrences);
  void carry_out(const Actions& actions);

  void carry_out(const StartIteration& action);
  void carry_out(const SendGradient& action);
  void carry_out(const SendParameters& action);
  void carry_out(const AllReduce& action);
  void carry_out(const Accumulate& action);
  void carry_out(const Step& action);
  void carry_out(const LocalStep& action);
  void carry_out(const Coordinate&) {}
  void carry_out(const SetTimer&) {}
  void carry_out(const ApplyLocally&) {}
  void carry_out(const Overwrite&) {}
  void carry_out(const ScaleVelocity&) {}
  void carry_out(const Pause& action);
  void carry_out(const Evaluate& action);
  void carry_out(const Apply& action);
  void carry_out(const TakeSnapshot& action);
  void carry_out(const Discard& action);
  void carry_out(const AdoptBatches&) {}
  void carry_out(const EnterPhase&) {}
  void carry_out(const Stop&) {}

  // Queues work on the server; returns when it will be done.
  Seconds occupy_server(Seconds duration);

  Coordinator& coordinator_;
  const World& world_;
  Learner& learner_;
  Timeline& timeline_;
  RunObserver& observer_;
  Seconds server_free_at_;
};

}  // namespace paceline

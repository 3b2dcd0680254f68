// Everything one simulated run leaves behind, small enough to travel from a child process to its parent.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "sim/base/quantity.hpp"
#include "sim/base/random.hpp"
#include "sim/engine/observer.hpp"
#include "sim/policy/switching/switch_policy.hpp"
#include "sim/report/recording/activity.hpp"
#include "sim/report/recording/iteration_log.hpp"

namespace paceline {

struct CurvePoint {
  Seconds time;
  std::uint64_t updates = 0;
  std::int64_t samples = 0;
  double loss = 0.0;
  double accuracy = 0.0;
};

// The batch of one worker, from the start of the job or an adjustment on.
struct BatchRecord {
  Seconds time;
  std::uint64_t updates = 0;
  WorkerId worker;
  std::int64_t batch_samples = 0;
  double wanted_samples = 0.0;  // by the controller's rule, before bounds and rounding
  BatchLimit limited_by = BatchLimit::none;
};

// How well the batches fit the workers, until the next of these.
struct BalanceRecord : Balance {
  Seconds time;
  std::uint64_t updates = 0;
  BalanceCause cause = BalanceCause::start;
  // Of an adjustment: since the first change of conditions that no adjustment has followed yet; absent: none.
  std::optional<Seconds> lag{};
};
[[nodiscard]] std::string_view to_string(BalanceCause cause);

struct PhaseRecord {
  std::uint64_t phase = 0;
  Seconds begin;  // after the switch to it
  Seconds end;    // before the switch to the next one
  std::uint64_t updates = 0;
  std::int64_t samples = 0;
  double mean_staleness = 0.0;  // over its gradients, of the maximum over their shards
};

// Something the switch policy concluded or did, and what it had seen of the worker.
struct DecisionRecord {
  Seconds time;
  std::uint64_t updates = 0;
  std::uint64_t phase = 0;  // at that time
  DecisionKind kind = DecisionKind::alarm;
  WorkerId worker;
  std::optional<double> throughput{};  // absent, like the following: a phase begins, with every worker
  std::optional<double> baseline{};
  std::optional<double> cluster_mean{};
  std::optional<double> cluster_deviation{};
};

// A server, or one direction of a link.
struct ResourceUse {
  std::string name;
  std::optional<Bytes> bytes;  // absent for servers
  Seconds busy;
  Seconds saturated;
};

struct ServerSpan {
  ServerId server;
  Seconds begin;
  Seconds end;
  std::string task = {};                     // accumulate or step
  std::optional<std::uint64_t> update = {};  // of a step
};

// Everything needed to draw a run instant by instant; kept only when asked for.
struct RunTrace {
  std::vector<ActivitySpan> activities;  // by worker, then time
  std::vector<ServerSpan> server_work;
  std::vector<Seconds> evaluations;  // when their snapshots were taken
};

struct RunResult {
  Seed seed;
  double cores = 0.0;      // of all workers
  std::string end_reason;  // target-reached, workload-done, diverged or stalled
  std::string stall;       // who waits for what; empty unless stalled
  Seconds end_time;
  std::uint64_t updates = 0;
  std::int64_t samples = 0;
  std::uint64_t gradients_started = 0;
  std::uint64_t gradients_applied = 0;
  std::uint64_t adjustments = 0;             // of the batches, after the start
  std::optional<Seconds> time_to_accuracy;   // absent: the target was never reached, or there is none
  std::vector<CurvePoint> curve;             // empty when the job does not learn
  std::vector<BatchRecord> batches;          // of every worker at the start, then at each adjustment
  std::vector<BalanceRecord> balances;       // the first one at time 0
  std::vector<std::int64_t> worker_samples;  // applied, by worker
  // (worker, staleness) -> gradients applied with it
  std::map<std::pair<std::uint64_t, std::uint64_t>, std::uint64_t> staleness;

  double shard_staleness_sum = 0.0;        // over applied gradients, of the mean over their shards
  std::vector<ActivityTimes> attribution;  // by worker; each sums to end_time
  std::vector<PhaseRecord> phases;         // in order
  std::vector<DecisionRecord> decisions;   // of the switch policy, in order
  std::uint64_t windows_judged = 0;        // by it, of all workers together
  std::uint64_t slow_windows = 0;          // of these
  std::vector<ResourceUse> resources;  // servers by number, then links, where the network model knows them
  std::vector<IterationRecord> iterations;     // empty unless asked for
  std::optional<RunTrace> trace;               // absent unless asked for
  std::map<std::string, double> self_profile;  // seconds of this program, by part; empty unless asked for

  [[nodiscard]] double mean_staleness() const;  // over applied gradients, of the maximum over their shards
  [[nodiscard]] double mean_shard_staleness() const;  // ..., of the mean over their shards
  // Means over the run's time: of slowest / balanced iteration, and of the total batch over that at the
  // start.
  [[nodiscard]] double mean_imbalance() const;
  [[nodiscard]] double mean_batch_growth() const;
  // From changes of conditions to the adjustments that answer them; absent when none did.
  [[nodiscard]] std::optional<Seconds> mean_lag() const;
  // Mean time between two evaluations: a time-to-accuracy is not known more finely. 0 with fewer than two.
  [[nodiscard]] Seconds evaluation_interval() const;
};

}  // namespace paceline

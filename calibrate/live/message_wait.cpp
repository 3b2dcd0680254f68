#include "calibrate/live/message_wait.hpp"

#include <algorithm>
#include <cmath>
#include <variant>

#include "sim/base/check.hpp"
#include "sim/engine/executor.hpp"
#include "sim/engine/fluid/fluid_timeline.hpp"
#include "sim/learning/learner.hpp"

namespace paceline::live {
namespace {

constexpr double close_enough = 0.005;               // of what lies between
constexpr std::int64_t simulated_iterations = 1000;  // of each worker
constexpr std::int64_t warm_up_iterations = 20;

// Of each worker from its first iteration after warm-up on: those of synchronous ones end together.
class IterationClock final : public RunObserver {
 public:
  explicit IterationClock(std::uint32_t workers) : of_worker_(workers) {}

  void on_event(Seconds now, const Event& event) override {
    const auto* finished = std::get_if<IterationFinished>(&event);
    if (finished == nullptr) return;
    OfWorker& worker = of_worker_.at(finished->worker.value);
    const std::int64_t after_warm_up = worker.seen++ - warm_up_iterations;
    if (after_warm_up == 0) worker.began = now;
    if (after_warm_up > 0) worker.computing += finished->compute_time;
    worker.last = now;
  }
  void on_action(Seconds, const Action&) override {}
  void on_server_work(ServerId, std::optional<UpdateId>, Seconds, Seconds) override {}

  [[nodiscard]] CycleTime cycle() const {
    std::vector<CycleTime> cycles;
    for (const OfWorker& worker : of_worker_) {
      check(worker.seen > warm_up_iterations + 1, "every worker goes on after warm-up");
      const auto counted = static_cast<double>(worker.seen - warm_up_iterations - 1);
      const Seconds iteration = worker.computing / counted;
      cycles.push_back({iteration, (worker.last - worker.began) / counted - iteration});
    }
    return mean_of(cycles);
  }

 private:
  struct OfWorker {
    std::int64_t seen = 0;
    Seconds began;
    Seconds last;
    Seconds computing;
  };
  std::vector<OfWorker> of_worker_;
};

}  // namespace

CycleTime mean_of(const std::vector<CycleTime>& cycles) {
  check(!cycles.empty(), "a mean is of something");
  CycleTime mean{};
  for (const CycleTime& cycle : cycles) {
    mean.iteration += cycle.iteration / static_cast<double>(cycles.size());
    mean.between += cycle.between / static_cast<double>(cycles.size());
  }
  return mean;
}

AddedToMessages added_to_messages(
    const std::vector<Seconds>& measured_between,
    const std::function<std::vector<Seconds>(const std::vector<Seconds>& added)>& predicted_between,
    double messages) {
  constexpr int most_steps = 30;
  AddedToMessages found{.added = std::vector<Seconds>(measured_between.size()), .predicted_between = {}};
  for (int step = 0; step < most_steps; ++step) {
    found.predicted_between = predicted_between(found.added);
    std::vector<Seconds> next = found.added;
    for (std::size_t w = 0; w < next.size(); ++w) {
      const Seconds excess = measured_between[w] - found.predicted_between.at(w);
      if (std::abs(excess / measured_between[w]) >= close_enough)
        next[w] = std::max(Seconds{}, next[w] + excess / messages);
    }
    if (next == found.added) break;
    found.added = std::move(next);
  }
  return found;
}

CycleTime simulated_cycle(const BusyWorkers& job) {
  constexpr Seed seed{1, 0};
  std::vector<Worker> workers(job.workers);
  for (std::size_t w = 0; w < job.shares.size(); ++w) workers.at(w).speed = 1.0 / job.shares[w];
  const Cluster cluster{.workers = workers,
                        .network = job.network,
                        .servers = {.sends = ServerSends::sockets},
                        .machines = {Machine{.cores = job.cores, .is_shared = true, .hosts_servers = true}}};
  const std::int64_t samples = (simulated_iterations + warm_up_iterations) * job.workers;
  Profile profile;
  profile.parameter_bytes = job.bytes;
  ComputeFit busy;
  busy.intercept = job.slowdown * job.busy;
  busy.batch_min_samples = busy.batch_max_samples = 1;
  profile.compute.push_back(busy);
  FixedCosts costs;
  costs.switching.resize(1);
  // Real workers are not in step.
  costs.start_up = RestartCost{.per_worker = job.busy / job.workers, .order = RestartOrder::sequential};
  costs.communication = job.cost;
  // What applying takes is part of `cost`.
  profile.server_accumulate_rate = profile.server_step_rate = BytesPerSecond{1e30};
  const SimulationModel model{
      .compute = ComputeTimes(profile, cluster.workers, {.iteration_cv = job.variation}, seed),
      .server = ServerTimes(profile),
      .parameter_bytes = job.bytes,
      .shards = shards_of(job.bytes, {}, 1, ParameterSplit::even),
      .costs = costs,
      .heterogeneity = {},
      .total_samples = samples,
      .dataset_samples = samples,
      .seed = seed,
      .shared_machines = shared_machines(cluster),
      .delays = MessageDelays(std::vector(job.workers, job.wait), random_streams(cluster.workers), seed)};
  CoordinatorConfig config;
  config.phases = {PhaseConfig{.policy = SynchronizationChoice(job.policy), .transport = job.transport}};
  config.batching.initial_samples = 1;
  config.machines.resize(job.workers);
  config.optimizer.learning_rate = 0.01;
  config.total_samples = samples;
  config.dataset_samples = samples;
  config.evaluate_every = {1e9, EveryUnit::updates};
  config.pause_at_start = true;
  Coordinator coordinator(config);
  NoLearner learner;
  FluidTimeline timeline(cluster);
  IterationClock clock(job.workers);
  const auto stalled = Executor(coordinator, model, learner, timeline, clock).run();
  check(!stalled, "a job of busy workers goes on");
  return clock.cycle();
}

namespace {

// By halving: the more is overlapped, the less lies between.
double overlap_of(BusyWorkers one, Seconds measured_between) {
  if (simulated_cycle(one).between - measured_between < close_enough * measured_between) return 0.0;
  constexpr double exact_enough = 0.005;
  double least = 0.0;
  double most = 1.0;
  while (most - least > exact_enough) {
    const double middle = 0.5 * (least + most);
    one.cost.server_overlap = one.cost.worker_overlap = middle;
    (simulated_cycle(one).between > measured_between ? least : most) = middle;
  }
  return most;
}

// What an iteration waits for a core counts as between iterations.
Seconds wait_of(BusyWorkers job, const CycleTime& measured) {
  const auto between = [&](const std::vector<Seconds>& added) {
    job.wait = added.front();
    const CycleTime simulated = simulated_cycle(job);
    return std::vector{simulated.between + simulated.iteration - measured.iteration};
  };
  return added_to_messages({measured.between}, between).added.front();
}

}  // namespace

Disturbance disturbance_of(const MeasuredWorkers& one, const MeasuredWorkers& several) {
  BusyWorkers alone = one.job;
  const Seconds latency = added_to_messages({one.cycle.between}, [&](const std::vector<Seconds>& added) {
                            alone.network.latency = added.front();
                            return std::vector{simulated_cycle(alone).between};
                          }).added.front();
  alone.network.latency = latency;
  BusyWorkers job = several.job;
  job.network.latency = latency;
  const double overlap = latency == Seconds{} ? overlap_of(alone, one.cycle.between) : 0.0;
  job.cost.server_overlap = job.cost.worker_overlap = overlap;
  job.slowdown = several.processor / one.processor;
  Disturbance found{.slowdown = job.slowdown,
                    .wait = wait_of(job, several.cycle),
                    .overlap = overlap,
                    .variation = job.variation};
  found.of_worker.assign(job.workers, found.slowdown);
  for (std::size_t w = 0; w < job.shares.size(); ++w) found.of_worker.at(w) *= job.shares[w];
  return found;
}

}  // namespace paceline::live

// A small job in readable units, run under either timeline, with everything that happened kept for
// assertions.
//
// Defaults: a sample takes 1 s at speed 1, nothing else costs anything, messages have 1000 bytes on links of
// 1e30 B/s without latency. So expected times can be read off the batch sizes.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <utility>
#include <vector>

#include "sim/engine/executor.hpp"
#include "sim/engine/ideal_timeline.hpp"
#include "sim/engine/observer.hpp"
#include "sim/training/coordinator.hpp"

namespace paceline::test {

struct Happened {
  Seconds time;
  Event event;
};
struct Done {
  Seconds time;
  Action action;
};

struct ServerWork {
  ServerId server;
  Seconds begin;
  Seconds end;
};

class Recording final : public RunObserver {
 public:
  void on_event(Seconds now, const Event& event) override {
    events.push_back({now, event});
    if (also != nullptr) also->on_event(now, event);
  }
  void on_action(Seconds now, const Action& action) override {
    actions.push_back({now, action});
    if (also != nullptr) also->on_action(now, action);
  }
  void on_server_work(ServerId server, std::optional<UpdateId> step, Seconds begin, Seconds end) override {
    server_work.push_back({server, begin, end});
    if (also != nullptr) also->on_server_work(server, step, begin, end);
  }

  void on_balance(Seconds now, BalanceCause cause, const Balance& balance) override {
    if (also != nullptr) also->on_balance(now, cause, balance);
  }

  RunObserver* also = nullptr;  // sees the same, in the same order

  std::vector<Happened> events;
  std::vector<Done> actions;
  std::vector<ServerWork> server_work;

  template <class Alternative>
  [[nodiscard]] std::vector<std::pair<Seconds, Alternative>> all() const {
    std::vector<std::pair<Seconds, Alternative>> found;
    for (const Done& done : actions)
      if (const auto* match = std::get_if<Alternative>(&done.action)) found.emplace_back(done.time, *match);
    return found;
  }
};

struct TestJob {
  std::vector<Worker> workers{{}, {}, {}, {}};
  NetworkConfig network{BytesPerSecond{1e30}, Seconds{0.0}, BytesPerSecond{1e30}};
  std::vector<PhaseConfig> phases{PhaseConfig{}};
  SwitchChoice reaction{};
  BatchingConfig batching{.initial_samples = 10};
  OptimizerConfig optimizer{};
  std::int64_t total_samples = 400;
  std::optional<std::int64_t> dataset_samples;  // absent: the whole job is one epoch
  Every evaluate_every{1e9, EveryUnit::updates};
  std::optional<double> target_accuracy;
  std::size_t evaluations_at_target = 1;
  std::size_t servers = 1;
  ParameterSplit split = ParameterSplit::even;
  std::vector<Bytes> variables{};
  std::vector<GradientVariable> gradient_variables{};
  std::vector<Machine> machines{};
  FixedCosts costs{};
  std::optional<Every> checkpoint_every;
  Heterogeneity heterogeneity{};
  Seconds intercept{0.0};
  Seconds slope_per_sample{1.0};
  Seconds optimizer_step{0.0};
  BytesPerSecond server_rate{1e30};
  Bytes parameter_bytes{1000.0};
  Jitter jitter{};
  Seconds message_delay{};
  Seed seed{1, 0};
  Shortcuts shortcuts = Shortcuts::on;
  RunObserver* observer = nullptr;  // watches beside the test's own recording

  [[nodiscard]] Cluster cluster() const {
    return {.workers = workers,
            .network = network,
            .servers = {.count = static_cast<std::uint32_t>(servers)},
            .machines = machines};
  }

  [[nodiscard]] Profile profile() const {
    Profile profile;
    profile.parameter_bytes = parameter_bytes;
    profile.compute.push_back({.cores = 1,
                               .intercept = intercept,
                               .slope_per_sample = slope_per_sample,
                               .leave_one_out_error = 0.0,
                               .batch_min_samples = 1,
                               .batch_max_samples = 1000,
                               .optimizer_step = optimizer_step});
    profile.server_accumulate_rate = server_rate;
    profile.server_step_rate = server_rate;
    return profile;
  }

  [[nodiscard]] SimulationModel model() const {
    FixedCosts all_costs = costs;
    all_costs.switching.resize(phases.size());
    return {ComputeTimes(profile(), workers, jitter, seed),
            ServerTimes(profile()),
            parameter_bytes,
            shards_of(parameter_bytes, variables, servers, split),
            all_costs,
            heterogeneity,
            total_samples,
            dataset_samples.value_or(total_samples),
            seed,
            shared_machines(cluster()),
            shortcuts,
            MessageDelays(std::vector(workers.size(), message_delay), random_streams(workers), seed),
            gradient_variables};
  }

  [[nodiscard]] Coordinator coordinator() const {
    const ComputeTimes compute(profile(), workers, jitter, seed);
    std::vector<WorkerPrior> priors;
    for (std::uint64_t w = 0; w < workers.size(); ++w)
      priors.push_back({.throughput = static_cast<double>(batching.initial_samples) /
                                      compute.mean_iteration(WorkerId{w}, batching.initial_samples).value(),
                        .cores = static_cast<double>(workers[w].cores),
                        .flops = workers[w].flops.value_or(1.0)});
    return Coordinator(
        {.phases = phases,
         .reaction = reaction,
         .batching = batching,
         .machines = priors,
         .present_at_start = present_at_start(heterogeneity.membership, workers.size()),
         .servers = servers,
         .optimizer = optimizer,
         .total_samples = total_samples,
         .dataset_samples = dataset_samples.value_or(total_samples),
         .evaluate_every = evaluate_every,
         .workers_pay_for_evaluation = costs.evaluation_payer == EvaluationPayer::inline_workers,
         .target_accuracy = target_accuracy,
         .evaluations_at_target = evaluations_at_target,
         .pause_at_start = costs.start_up.has_value(),
         .checkpoint_every = checkpoint_every,
         .coordinate_synchronous_steps = !costs.coordination.is_free(),
         .pause_at_adjustment = costs.adjustment > Seconds{}});
  }

  struct Result {
    std::optional<Stalled> stalled;
    Recording recording;
    std::uint64_t updates = 0;
    std::int64_t applied_samples = 0;
    Seconds end;
  };

  void run_on(Timeline& timeline, Learner& learner, Result& result) const {
    const SimulationModel in_this_model = model();
    result.recording.also = observer;
    Coordinator job = coordinator();
    Executor executor(job, in_this_model, learner, timeline, result.recording);
    result.stalled = executor.run();
    result.updates = job.updates();
    result.applied_samples = job.applied_samples();
    result.end = result.recording.events.empty() ? Seconds{} : result.recording.events.back().time;
  }

  [[nodiscard]] Result run_ideal() const {
    NoLearner learner;
    return run_ideal(learner);
  }
  [[nodiscard]] Result run_ideal(Learner& learner) const {
    IdealTimeline timeline(cluster());
    Result result;
    run_on(timeline, learner, result);
    return result;
  }
};

// Two workers alike, 10 samples each.
inline TestJob two_workers(const char* policy, std::int64_t total_samples) {
  TestJob job;
  job.workers = {{}, {}};
  job.phases = {{.policy = policy}};
  job.total_samples = total_samples;
  return job;
}

inline std::vector<double> starts_of(const TestJob::Result& result, std::uint64_t worker) {
  std::vector<double> times;
  for (const auto& [time, start] : result.recording.all<StartIteration>())
    if (start.worker.value == worker) times.push_back(time.value());
  return times;
}

inline std::vector<double> times_of_updates(const TestJob::Result& result) {
  std::vector<double> times;
  for (const auto& [time, update] : result.recording.all<Apply>()) times.push_back(time.value());
  return times;
}

inline std::vector<Seconds> compute_times(const TestJob::Result& result) {
  std::vector<Seconds> times;
  for (const Happened& happened : result.recording.events)
    if (const auto* finished = std::get_if<IterationFinished>(&happened.event))
      times.push_back(finished->compute_time);
  return times;
}

}  // namespace paceline::test

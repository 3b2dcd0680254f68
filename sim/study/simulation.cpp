#include "sim/study/simulation.hpp"

#include <algorithm>
#include <memory>

#include <fmt/format.h>

#include "sim/cost/compute_law.hpp"
#include "sim/engine/executor.hpp"
#include "sim/engine/fluid/fluid_timeline.hpp"
#include "sim/engine/simgrid/simgrid_timeline.hpp"
#include "sim/learning/network_learner.hpp"
#include "sim/learning/statistical_learner.hpp"
#include "sim/report/recording/run_recorder.hpp"
#include "sim/study/checks_before_running.hpp"
#include "sim/study/self_profile.hpp"

namespace paceline {
namespace {

std::int64_t total_samples(const Scenario& scenario) {
  return static_cast<std::int64_t>(
      scenario.stop.epochs * static_cast<double>(scenario.job.dataset.train_samples) + 0.5);
}

// Of another cluster like this one, as a whole. The draw belongs to the seed: what is compared meets the same
// cluster.
double drawn_slowness(const Scenario& scenario, const Profile& profile, Seed seed) {
  const double variation = cluster_variation(scenario, profile);
  return variation > 0.0 ? RandomStream(seed, Purpose::cluster).log_normal(1.0, variation) : 1.0;
}

// All that is computed takes longer; pauses of a fixed length, and the network, stay as they are.
FixedCosts slowed(FixedCosts costs, double slowness) {
  CoordinationCost& coordination = costs.coordination;
  CommunicationCost& communication = costs.communication;
  for (Seconds* part :
       {&coordination.per_step, &coordination.per_worker, &coordination.per_sample,
        &communication.server_request, &communication.server_variable, &communication.per_message})
    *part = slowness * *part;
  for (std::optional<BytesPerSecond>* rate : {&communication.server_rate, &communication.rate})
    if (*rate) *rate = **rate / slowness;
  return costs;
}

// Nothing where it is not known when they are ready: buckets are refused then.
std::vector<GradientVariable> gradient_variables(const Profile& profile) {
  std::vector<GradientVariable> variables;
  for (std::size_t k = 0; k < profile.variable_ready.size(); ++k)
    variables.push_back({profile.variables[k], profile.variable_ready[k]});
  return variables;
}

SimulationModel build_model(const Scenario& scenario, const Profiles& profiles, Seed seed,
                            double slowness = 1.0) {
  const Jitter jitter = resolve_jitter(profiles.job(), scenario.jitter).jitter;
  std::vector<Worker> workers = scenario.cluster.workers;
  for (Worker& worker : workers) worker.speed /= slowness;
  std::vector<Seconds> message_waits;
  for (const Worker& worker : workers)
    message_waits.push_back(worker.message_wait.value_or(scenario.jitter.message) * slowness);
  Heterogeneity changes = heterogeneity(scenario);
  changes.spells = scenario.jitter.spells;
  return {.compute = ComputeTimes(profiles.distinct, profiles.of_worker, workers, jitter, seed,
                                  scenario.job.data_loading),
          .server = ServerTimes(profiles.job(), slowness),
          .parameter_bytes = profiles.job().parameter_bytes,
          .shards = shards_of(profiles.job().parameter_bytes, profiles.job().variables,
                              scenario.cluster.servers.count, scenario.cluster.servers.split),
          .costs = slowed(fixed_costs(scenario), slowness),
          .heterogeneity = std::move(changes),
          .total_samples = total_samples(scenario),
          .dataset_samples = scenario.job.dataset.train_samples,
          .seed = seed,
          .shared_machines = shared_machines(scenario.cluster),
          .shortcuts = scenario.shortcuts,
          .delays = MessageDelays(std::move(message_waits), random_streams(workers), seed),
          .variables = gradient_variables(profiles.job())};
}

Every every(const Count& count, const Scenario& scenario) {
  switch (count.unit) {
    case CountUnit::updates:
      return {count.value, EveryUnit::updates};
    case CountUnit::samples:
      return {count.value, EveryUnit::samples};
    case CountUnit::epochs:
      break;
  }
  return {count.value * static_cast<double>(scenario.job.dataset.train_samples), EveryUnit::samples};
}

std::optional<Every> checkpoint_every(const Scenario& scenario) {
  if (!scenario.checkpoints) return std::nullopt;
  const Often& often = scenario.checkpoints->every;
  if (const auto* time = std::get_if<Seconds>(&often)) return Every{time->value(), EveryUnit::seconds};
  return every(std::get<Count>(often), scenario);
}

std::vector<PhaseConfig> phases(const Scenario& scenario) {
  std::vector<PhaseConfig> phases;
  for (const PhaseEntry& entry : scenario.synchronization) {
    phases.push_back(entry.config);
    if (entry.share) phases.back().length = ShareOfJob{*entry.share};
    if (entry.length) phases.back().length = *entry.length;
  }
  return phases;
}

// What a coordinator may know beforehand: what is declared and the profile's mean times, never the jitter of
// this run.
std::vector<WorkerPrior> declared(const Scenario& scenario, const Profiles& profiles,
                                  const ComputeTimes& compute) {
  std::vector<WorkerPrior> machines;
  const std::int64_t batch = scenario.batching.initial_samples;
  for (std::uint64_t w = 0; w < scenario.cluster.workers.size(); ++w) {
    const Worker& worker = scenario.cluster.workers[w];
    machines.push_back(
        {.throughput = static_cast<double>(batch) / compute.mean_iteration(WorkerId{w}, batch).value(),
         .cores = static_cast<double>(worker.cores),
         .flops = worker.flops.value_or(1.0),
         .memory_samples = largest_batch_in_memory(worker, profiles.of(w))});
  }
  return machines;
}

Coordinator build_coordinator(const Scenario& scenario, const Profiles& profiles,
                              const SimulationModel& model) {
  return Coordinator(
      {.phases = phases(scenario),
       .reaction = scenario.reaction ? scenario.reaction->policy : SwitchChoice{},
       .batching = scenario.batching,
       .machines = declared(scenario, profiles, model.compute),
       .present_at_start =
           present_at_start(scenario.heterogeneity.changes.membership, scenario.cluster.workers.size()),
       .servers = model.shards.size(),
       .optimizer = scenario.job.optimizer,
       .total_samples = model.total_samples,
       .dataset_samples = model.dataset_samples,
       .evaluate_every = every(scenario.evaluation.every, scenario),
       .workers_pay_for_evaluation = scenario.evaluation.who_pays == EvaluationPayer::inline_workers,
       .target_accuracy = scenario.stop.accuracy,
       .evaluations_at_target = static_cast<std::size_t>(scenario.stop.evaluations_in_a_row),
       .pause_at_start = scenario.start_up.has_value(),
       .checkpoint_every = checkpoint_every(scenario),
       .coordinate_synchronous_steps = !scenario.coordination.is_free(),
       .pause_at_adjustment = scenario.batching.adjustment_cost > Seconds{}});
}

NetworkEngine engine_of(const Scenario& scenario) {
  return resolved(scenario.engine, scenario.shortcuts, scenario.cluster);
}

std::unique_ptr<Timeline> make_timeline(const Scenario& scenario) {
  if (engine_of(scenario) == NetworkEngine::fluid)
    return std::make_unique<FluidTimeline>(scenario.cluster, scenario.shortcuts);
  return make_simgrid_timeline(scenario.cluster, scenario.shortcuts);
}

std::vector<int> cores_in_use(const Scenario& scenario) {
  std::vector<int> cores;
  for (const Worker& worker : scenario.cluster.workers) cores.push_back(worker.cores);
  for (const Level& level : scenario.heterogeneity.changes.schedule)
    cores.insert(cores.end(), level.cores.begin(), level.cores.end());
  return cores;
}

}  // namespace

std::unique_ptr<Learner> build_learner(const Scenario& scenario, std::size_t servers, Seed seed) {
  const auto workers = static_cast<std::uint32_t>(scenario.cluster.workers.size());
  switch (scenario.learner.kind) {
    case LearnerKind::none:
      return std::make_unique<NoLearner>();
    case LearnerKind::statistical:
    case LearnerKind::assumed:
      return std::make_unique<StatisticalLearner>(read_statistical_model(scenario.learner.model), workers,
                                                  static_cast<std::uint32_t>(servers), seed);
    case LearnerKind::network:
      break;
  }
  return load_network_learner(network_learner_config(scenario, seed));
}

double cluster_variation(const Scenario& scenario, const Profile& profile) {
  const PredictionConfig& prediction = scenario.prediction;
  if (prediction.cluster == PredictedCluster::same) return 0.0;
  return prediction.clusters_differ.value_or(profile.jitter.cluster_cv.value_or(0.0));
}

FixedCosts fixed_costs(const Scenario& scenario) {
  FixedCosts costs{.start_up = scenario.start_up,
                   .switching = {},
                   .ramp_up = scenario.ramp_up.value_or(RampUp{}),
                   .preparation = scenario.batching.preparation.value_or(Seconds{}),
                   .resume = scenario.resume,
                   .checkpoint = scenario.checkpoints ? scenario.checkpoints->cost : Seconds{},
                   .checkpoint_of_phase = {},
                   .regrouping = {},
                   .probing = {},
                   .coordination = scenario.coordination,
                   .communication = scenario.communication.value_or(CommunicationCost{}),
                   .evaluation_payer = scenario.evaluation.who_pays,
                   .evaluation = scenario.evaluation.cost,
                   .adjustment = scenario.batching.adjustment_cost};
  for (const PhaseEntry& phase : scenario.synchronization) {
    costs.switching.push_back(phase.switching);
    costs.checkpoint_of_phase.push_back(phase.checkpoint_cost);
  }
  if (scenario.reaction) {
    costs.regrouping = scenario.reaction->regroup_cost;
    costs.probing = scenario.reaction->probe_cost;
  }
  return costs;
}

NetworkLearnerConfig network_learner_config(const Scenario& scenario, Seed seed) {
  const OptimizerConfig& optimizer = scenario.job.optimizer;
  return {.network = scenario.learner.trains_file() ? scenario.learner.model : scenario.job.network,
          .dataset = scenario.job.dataset,
          .weight_decay = optimizer.weight_decay,
          .nesterov = optimizer.nesterov,
          .adamw = optimizer.kind == OptimizerKind::adamw ? std::optional(optimizer.adamw) : std::nullopt,
          .momentum_at = optimizer.momentum_at,
          .batch_norm = optimizer.batch_norm,
          .worker_count = static_cast<std::uint32_t>(scenario.cluster.workers.size()),
          .server_count = scenario.cluster.servers.count,
          .seed = seed,
          .random_streams = random_streams(scenario.cluster.workers)};
}

Coordinator build_coordinator(const Scenario& scenario, const Profiles& profiles, Seed seed) {
  return build_coordinator(scenario, profiles, build_model(scenario, profiles, seed));
}

std::vector<std::string> network_model_of(const Scenario& scenario) {
  return network_model_text(engine_of(scenario), scenario.cluster.network.model);
}

Heterogeneity heterogeneity(const Scenario& scenario) {
  Heterogeneity changes = scenario.heterogeneity.changes;
  if (!scenario.heterogeneity.trace.empty())
    changes.trace = read_trace(scenario.heterogeneity.trace, scenario.cluster.workers.size());
  return changes;
}

RunResult simulate(const Scenario& scenario, const Profiles& profiles, std::uint32_t replication,
                   RecordingOptions recording, ProfileUse use) {
  const Seed seed{scenario.seed, replication};
  SelfProfile profile("preparation");
  Profiles truth = profiles;
  if (use == ProfileUse::drawn)
    for (Profile& drawn : truth.distinct) drawn = drawn_profile(drawn, cores_in_use(scenario), seed);
  const double slowness = drawn_slowness(scenario, profiles.job(), seed);
  const SimulationModel model = build_model(scenario, truth, seed, slowness);
  const std::unique_ptr<Learner> learner = build_learner(scenario, model.shards.size(), seed);
  // Policies know the profile and the cluster described, never the draws.
  Coordinator coordinator = build_coordinator(scenario, profiles, seed);
  const std::unique_ptr<Timeline> timeline = make_timeline(scenario);
  RunRecorder recorder(seed, recording);
  std::optional<Stalled> stalled;
  if (recording.self_profile) {
    const std::unique_ptr<Learner> watched_learner = profiled(*learner, profile);
    const std::unique_ptr<Timeline> watched_timeline = profiled(*timeline, profile);
    const std::unique_ptr<RunObserver> watched_recorder = profiled(recorder, profile);
    stalled = Executor(coordinator, model, *watched_learner, *watched_timeline, *watched_recorder).run();
  } else {
    stalled = Executor(coordinator, model, *learner, *timeline, recorder).run();
  }
  const Seconds end = stalled ? stalled->at : recorder.last_time();
  RunResult result = recorder.finish(end, stalled ? std::optional(stalled->waiting) : std::nullopt);
  for (const LinkUse& link : timeline->link_use())
    result.resources.push_back({link.name, link.bytes, link.busy, link.saturated});
  for (const Worker& worker : scenario.cluster.workers) result.cores += worker.cores;
  if (recording.self_profile) result.self_profile = profile.seconds();
  return result;
}

}  // namespace paceline

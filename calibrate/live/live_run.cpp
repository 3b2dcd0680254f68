#include "calibrate/live/live_run.hpp"

#include <system_error>
#include <utility>

#include "calibrate/live/checkpoint.hpp"
#include "calibrate/live/machine_load.hpp"
#include "calibrate/live/replay.hpp"
#include "sim/base/diagnostic.hpp"
#include "sim/study/simulation.hpp"

namespace paceline::live {
namespace {

std::vector<double> speeds(const Scenario& scenario) {
  std::vector<double> all;
  for (const Worker& worker : scenario.cluster.workers) all.push_back(worker.speed);
  return all;
}

bool restarts(const Scenario& scenario) {
  return scenario.emulate && scenario.emulate->restarts;
}

std::vector<bool> reduces_all(const Scenario& scenario) {
  std::vector<bool> all;
  for (const PhaseEntry& phase : scenario.synchronization)
    all.push_back(phase.config.transport != Transport::server);
  return all;
}

// What a recorder sees of the run when a coordinator like the one that led it meets it again.
RunResult result_of(const Scenario& scenario, const Profiles& profiles, Seed seed, const RecordedRun& run,
                    const RecordingOptions& recording, std::optional<std::string> stalled) {
  Coordinator coordinator = build_coordinator(scenario, profiles, seed);
  RunRecorder recorder(seed, recording);
  replay(coordinator, run, recorder);
  if (coordinator.stopped()) stalled.reset();
  return recorder.finish(recorder.last_time(), stalled);
}

}  // namespace

// Programs of paceline sit beside each other in the build folder, or under libexec once installed.
std::filesystem::path worker_program() {
  namespace fs = std::filesystem;
  const fs::path here = fs::read_symlink("/proc/self/exe").parent_path();
  for (const fs::path& place : {here / "paceline-calibrate", here / "../libexec/paceline/paceline-calibrate"})
    if (fs::exists(place)) return place;
  throw UserError("the program paceline-calibrate is not installed beside paceline",
                  "build it with -DPACELINE_KERNELS=ON (the default)");
}

bool has_own_ring(const Scenario& scenario) {
  return scenario.emulate && scenario.emulate->own_ring;
}

std::optional<NetworkConfig> emulated_network(const Scenario& scenario) {
  if (!scenario.emulate || !scenario.emulate->links) return std::nullopt;
  return scenario.cluster.network;
}

RingWay ring_way(bool is_own, const std::optional<NetworkConfig>& links) {
  return {is_own, is_own && links ? links->latency : Seconds{}};
}

std::vector<WorkerSetup> setups_of(const Scenario& scenario, const NetworkLearnerConfig& learner) {
  std::vector<WorkerSetup> all;
  const RingWay ring = ring_way(has_own_ring(scenario), emulated_network(scenario));
  for (const Worker& worker : scenario.cluster.workers)
    all.push_back({.learner = learner,
                   .is_evaluator = false,
                   .speed = worker.speed,
                   .ring = ring,
                   .quota = worker.quota});
  all.push_back({.learner = learner, .is_evaluator = true});
  return all;
}

LiveRun run_live(const Scenario& scenario, const Profiles& profiles, std::uint32_t replication,
                 const LiveOptions& options) {
  const Seed seed{scenario.seed, replication};
  const NetworkLearnerConfig learner = network_learner_config(scenario, seed);
  ProcessCrew crew({.program = options.program,
                    .setups = setups_of(scenario, learner),
                    .port = options.port,
                    .hosts = scenario.hosts,
                    .links = options.links});
  options.on_start(crew);
  const double load = load_to_begin_with(options.accepts_load);
  const Ready& initial = crew.ready().back();
  NetworkState state(initial.parameters, initial.statistics, learner);
  Coordinator coordinator = build_coordinator(scenario, profiles, seed);
  EventLog log;
  const double total = scenario.stop.epochs * static_cast<double>(scenario.job.dataset.train_samples);
  const CheckpointFile checkpoint(options.folder);
  LiveExecutor executor(coordinator, crew, state,
                        {.workers = scenario.cluster.workers.size(),
                         .parameter_count = initial.parameters.size(),
                         .statistics_count = initial.statistics.size(),
                         .costs = fixed_costs(scenario),
                         .reduces_all = reduces_all(scenario),
                         .weighting = scenario.batching.weighting,
                         .momentum = scenario.job.optimizer.momentum,
                         .momentum_at_workers = learner.momentum_at == MomentumPlace::workers,
                         .checkpoint = restarts(scenario) ? std::optional(checkpoint.path()) : std::nullopt,
                         .replicas_to_keep = options.replicas_to_keep,
                         .speeds = speeds(scenario),
                         .heterogeneity = heterogeneity(scenario),
                         .random_streams = learner.random_streams,
                         .seed = seed,
                         .total_samples = static_cast<std::int64_t>(total + 0.5),
                         .dataset_samples = scenario.job.dataset.train_samples,
                         .patience = options.patience},
                        log);
  const std::optional<Stalled> stalled =
      executor.run([&](std::int64_t samples) { options.progress(static_cast<double>(samples) / total); });
  LiveRun run;
  run.other_load = load;
  run.recorded =
      scenario.evaluation.who_pays == EvaluationPayer::free ? log.take_with_results_at_once() : log.take();
  run.result = result_of(scenario, profiles, seed, run.recorded, options.recording,
                         stalled ? std::optional(stalled->waiting) : std::nullopt);
  for (const Worker& worker : scenario.cluster.workers) run.result.cores += worker.cores;
  run.lost = executor.lost();
  run.refused = crew.refused();
  run.communication = executor.communication();
  run.restarts = executor.restarts();
  run.replicas = executor.take_replicas();
  return run;
}

}  // namespace paceline::live

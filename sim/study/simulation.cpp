#include "sim/study/simulation.hpp"

#include <memory>

#include <fmt/format.h>

#include "sim/base/diagnostic.hpp"
#include "sim/engine/executor.hpp"
#include "sim/engine/simgrid_timeline.hpp"
#include "sim/learning/network_learner.hpp"
#include "sim/report/run_recorder.hpp"

namespace paceline {
namespace {

JitterOverrides jitter_overrides(const Scenario& scenario) {
  return {scenario.jitter.run_cv, scenario.jitter.worker_cv, scenario.jitter.iteration_cv};
}

World build_world(const Scenario& scenario, const Profile& profile, Seed seed) {
  const Jitter jitter = resolve_jitter(profile, jitter_overrides(scenario)).jitter;
  return {ComputeTimes(profile, scenario.cluster.workers, jitter, seed), ServerTimes(profile),
          profile.parameter_bytes};
}

std::unique_ptr<Learner> build_learner(const Scenario& scenario, Seed seed) {
  if (scenario.learner.kind == LearnerKind::none) return std::make_unique<NoLearner>();
  const OptimizerConfig& optimizer = scenario.job.optimizer;
  return load_network_learner({.network = scenario.job.network,
                               .dataset = scenario.job.dataset,
                               .weight_decay = optimizer.weight_decay,
                               .nesterov = optimizer.nesterov,
                               .worker_count = static_cast<std::uint32_t>(scenario.cluster.workers.size()),
                               .seed = seed});
}

EvaluationEvery evaluation_every(const Scenario& scenario) {
  const Count& every = scenario.evaluation.every;
  switch (every.unit) {
    case CountUnit::updates:
      return {every.value, EvaluationUnit::updates};
    case CountUnit::samples:
      return {every.value, EvaluationUnit::samples};
    case CountUnit::epochs:
      break;
  }
  return {every.value * static_cast<double>(scenario.job.dataset.train_samples), EvaluationUnit::samples};
}

// What a coordinator may know beforehand: the profile's mean times, never the jitter of this run.
std::vector<double> calibrated_throughput(const Scenario& scenario, const ComputeTimes& compute) {
  std::vector<double> throughput;
  const std::int64_t batch = scenario.batching.initial_samples;
  for (std::uint64_t w = 0; w < scenario.cluster.workers.size(); ++w)
    throughput.push_back(static_cast<double>(batch) / compute.mean_iteration(WorkerId{w}, batch).value());
  return throughput;
}

Coordinator build_coordinator(const Scenario& scenario, const World& world) {
  const auto dataset_samples = scenario.job.dataset.train_samples;
  return Coordinator({.phases = scenario.synchronization,
                      .batching = scenario.batching,
                      .calibrated_throughput = calibrated_throughput(scenario, world.compute),
                      .optimizer = scenario.job.optimizer,
                      .total_samples = static_cast<std::int64_t>(
                          scenario.stop.epochs * static_cast<double>(dataset_samples) + 0.5),
                      .dataset_samples = dataset_samples,
                      .evaluate_every = evaluation_every(scenario),
                      .target_accuracy = scenario.stop.accuracy});
}

}  // namespace

std::vector<std::string> check_against_profile(const Scenario& scenario, const Profile& profile) {
  if (profile.network != scenario.job.network)
    throw UserError(
        fmt::format("{}: job.network is {}, but the profile {} was measured for {}", scenario.file.string(),
                    scenario.job.network, profile.path, profile.network),
        fmt::format("make one with `paceline calibrate {}`, or change job.network", scenario.job.network));
  // Composing the world finds core counts that were not measured.
  [[maybe_unused]] const World world = build_world(scenario, profile, Seed{});
  std::vector<std::string> notes = resolve_jitter(profile, jitter_overrides(scenario)).notes;
  const BatchingConfig& batching = scenario.batching;
  const bool fixed = batching.controller == BatchControllerKind::uniform;
  const std::vector<std::string> ranges = extrapolation_notes(
      profile, scenario.cluster.workers, fixed ? batching.initial_samples : batching.minimum_samples,
      fixed ? batching.initial_samples : batching.maximum_samples);
  notes.insert(notes.end(), ranges.begin(), ranges.end());
  return notes;
}

RunResult simulate(const Scenario& scenario, const Profile& profile, std::uint32_t replication) {
  const Seed seed{scenario.seed, replication};
  const World world = build_world(scenario, profile, seed);
  const std::unique_ptr<Learner> learner = build_learner(scenario, seed);
  Coordinator coordinator = build_coordinator(scenario, world);
  SimGridTimeline timeline(scenario.cluster);
  RunRecorder recorder(seed, scenario.stop.accuracy);
  Executor executor(coordinator, world, *learner, timeline, recorder);
  const std::optional<Stalled> stalled = executor.run();
  const Seconds end = stalled ? stalled->at : recorder.last_time();
  return recorder.finish(end, stalled ? std::optional(stalled->waiting) : std::nullopt);
}

}  // namespace paceline

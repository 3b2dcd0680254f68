#include "sim/study/simulation.hpp"

#include <algorithm>
#include <filesystem>
#include <memory>

#include <fmt/format.h>
#include <fmt/ranges.h>

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
  std::vector<Seconds> switch_cost;
  for (const PhaseConfig& phase : scenario.synchronization) switch_cost.push_back(phase.switch_cost);
  return {ComputeTimes(profile, scenario.cluster.workers, jitter, seed), ServerTimes(profile),
          profile.parameter_bytes, std::move(switch_cost)};
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

[[noreturn]] void fail_at(const LoadedScenario& loaded, const std::string& key, const std::string& message,
                          const std::string& hint) {
  throw UserError(fmt::format("{}: error: `{}`: {}\nhint: {}\n", origin_of(loaded, key), key, message, hint));
}

void check_cores(const LoadedScenario& loaded, const Profile& profile) {
  std::vector<int> measured;
  for (const ComputeFit& fit : profile.compute) measured.push_back(fit.cores);
  const std::vector<Worker>& workers = loaded.scenario.cluster.workers;
  for (std::size_t w = 0; w < workers.size(); ++w)
    if (profile.find(workers[w].cores) == nullptr)
      fail_at(loaded, fmt::format("cluster.workers.{}.cores", w),
              fmt::format("{} was measured with {} cores, not with {}", profile.path,
                          fmt::join(measured, ", "), workers[w].cores),
              "calibrate with `--cores`, or describe another machine by `speed`");
}

// A fit that misses its own measurements by more than this is said to be poor; as `paceline calibrate` does.
constexpr double poor_leave_one_out_error = 0.10;

std::vector<std::string> poor_fit_notes(const Scenario& scenario, const Profile& profile) {
  std::vector<std::string> notes;
  for (const ComputeFit& fit : profile.compute) {
    const bool used = std::any_of(scenario.cluster.workers.begin(), scenario.cluster.workers.end(),
                                  [&](const Worker& worker) { return worker.cores == fit.cores; });
    if (used && fit.leave_one_out_error > poor_leave_one_out_error)
      notes.push_back(
          fmt::format("{}: with {} cores the fit misses left-out batches by {:.0f} %: calibrate again on a "
                      "quiet machine before trusting these times",
                      profile.path, fit.cores, 100.0 * fit.leave_one_out_error));
  }
  return notes;
}

}  // namespace

Profile read_profile_of(const LoadedScenario& loaded) {
  const std::filesystem::path& path = loaded.scenario.job.profile;
  std::error_code ignored;
  if (!std::filesystem::exists(path, ignored))
    fail_at(loaded, "job.profile", fmt::format("there is no profile {}", path.string()),
            fmt::format("measure this machine: `paceline calibrate {} -o {}`", loaded.scenario.job.network,
                        path.string()));
  return read_profile(path);
}

std::vector<std::string> check_before_running(const LoadedScenario& loaded, const Profile& profile) {
  const Scenario& scenario = loaded.scenario;
  if (profile.network != scenario.job.network)
    fail_at(
        loaded, "job.network",
        fmt::format("the network is {}, but the profile {} was measured for {}", scenario.job.network,
                    profile.path, profile.network),
        "name the network of the profile, or calibrate this one (`paceline calibrate --help` lists them)");
  const DatasetSource& dataset = scenario.job.dataset;
  std::error_code ignored;
  if (scenario.learner.kind == LearnerKind::network && !dataset.path.empty() &&
      !std::filesystem::is_directory(dataset.path, ignored))
    fail_at(loaded, "job.dataset.path", fmt::format("{} is not a folder", dataset.path),
            fmt::format("name the folder that holds the files of {}", dataset.kind));
  check_cores(loaded, profile);

  std::vector<std::string> notes = resolve_jitter(profile, jitter_overrides(scenario)).notes;
  const BatchingConfig& batching = scenario.batching;
  const bool fixed = batching.controller == BatchControllerKind::uniform;
  for (std::string& note : extrapolation_notes(profile, scenario.cluster.workers,
                                               fixed ? batching.initial_samples : batching.minimum_samples,
                                               fixed ? batching.initial_samples : batching.maximum_samples))
    notes.push_back(std::move(note));
  for (std::string& note : poor_fit_notes(scenario, profile)) notes.push_back(std::move(note));
  return notes;
}

RunResult simulate(const Scenario& scenario, const Profile& profile, std::uint32_t replication) {
  const Seed seed{scenario.seed, replication};
  const World world = build_world(scenario, profile, seed);
  const std::unique_ptr<Learner> learner = build_learner(scenario, seed);
  Coordinator coordinator = build_coordinator(scenario, world);
  SimGridTimeline timeline(scenario.cluster);
  RunRecorder recorder(seed);
  Executor executor(coordinator, world, *learner, timeline, recorder);
  const std::optional<Stalled> stalled = executor.run();
  const Seconds end = stalled ? stalled->at : recorder.last_time();
  return recorder.finish(end, stalled ? std::optional(stalled->waiting) : std::nullopt);
}

}  // namespace paceline

#include "sim/study/simulation.hpp"

#include <algorithm>
#include <filesystem>
#include <memory>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "sim/base/diagnostic.hpp"
#include "sim/cluster/speed_trace.hpp"
#include "sim/cost/compute_law.hpp"
#include "sim/cost/profile_draw.hpp"
#include "sim/engine/executor.hpp"
#include "sim/engine/simgrid_timeline.hpp"
#include "sim/learning/network_learner.hpp"
#include "sim/learning/statistical_learner.hpp"
#include "sim/report/run_recorder.hpp"
#include "sim/study/learner_use.hpp"

namespace paceline {
namespace {

JitterOverrides jitter_overrides(const Scenario& scenario) {
  return {scenario.jitter.run_cv, scenario.jitter.worker_cv, scenario.jitter.iteration_cv};
}

FixedCosts fixed_costs(const Scenario& scenario) {
  FixedCosts costs{.start_up = scenario.start_up,
                   .switching = {},
                   .ramp_up = scenario.ramp_up.value_or(RampUp{}),
                   .checkpoint = scenario.checkpoints ? scenario.checkpoints->cost : Seconds{},
                   .coordination = scenario.coordination,
                   .evaluation_payer = scenario.evaluation.who_pays,
                   .evaluation = scenario.evaluation.cost};
  for (const PhaseEntry& phase : scenario.synchronization) costs.switching.push_back(phase.switching);
  return costs;
}

Heterogeneity heterogeneity(const Scenario& scenario) {
  Heterogeneity changes = scenario.heterogeneity.changes;
  if (!scenario.heterogeneity.trace.empty())
    changes.trace = read_trace(scenario.heterogeneity.trace, scenario.cluster.workers.size());
  return changes;
}

std::int64_t total_samples(const Scenario& scenario) {
  return static_cast<std::int64_t>(
      scenario.stop.epochs * static_cast<double>(scenario.job.dataset.train_samples) + 0.5);
}

World build_world(const Scenario& scenario, const Profile& profile, Seed seed) {
  const Jitter jitter = resolve_jitter(profile, jitter_overrides(scenario)).jitter;
  return {.compute = ComputeTimes(profile, scenario.cluster.workers, jitter, seed),
          .server = ServerTimes(profile),
          .parameter_bytes = profile.parameter_bytes,
          .servers = scenario.cluster.servers.count,
          .costs = fixed_costs(scenario),
          .heterogeneity = heterogeneity(scenario),
          .total_samples = total_samples(scenario),
          .dataset_samples = scenario.job.dataset.train_samples,
          .seed = seed};
}

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
  const OptimizerConfig& optimizer = scenario.job.optimizer;
  return load_network_learner({.network = scenario.job.network,
                               .dataset = scenario.job.dataset,
                               .weight_decay = optimizer.weight_decay,
                               .nesterov = optimizer.nesterov,
                               .momentum_at = optimizer.momentum_at,
                               .batch_norm = optimizer.batch_norm,
                               .worker_count = workers,
                               .server_count = scenario.cluster.servers.count,
                               .seed = seed});
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
    phases.back().parameter = parameter_of(entry).value_or(0);
    if (entry.share) phases.back().length = ShareOfJob{*entry.share};
    if (entry.length) phases.back().length = *entry.length;
  }
  return phases;
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
  return Coordinator(
      {.phases = phases(scenario),
       .batching = scenario.batching,
       .calibrated_throughput = calibrated_throughput(scenario, world.compute),
       .present_at_start =
           present_at_start(scenario.heterogeneity.changes.membership, scenario.cluster.workers.size()),
       .servers = world.servers,
       .optimizer = scenario.job.optimizer,
       .total_samples = world.total_samples,
       .dataset_samples = world.dataset_samples,
       .evaluate_every = every(scenario.evaluation.every, scenario),
       .workers_pay_for_evaluation = scenario.evaluation.who_pays == EvaluationPayer::inline_workers,
       .target_accuracy = scenario.stop.accuracy,
       .evaluations_at_target = static_cast<std::size_t>(scenario.stop.evaluations_in_a_row),
       .pause_at_start = scenario.start_up.has_value(),
       .checkpoint_every = checkpoint_every(scenario),
       .coordinate_synchronous_steps = !scenario.coordination.is_free()});
}

[[noreturn]] void fail_at(const LoadedScenario& loaded, const std::string& key, const std::string& message,
                          const std::string& hint) {
  throw UserError(fmt::format("{}: error: `{}`: {}\nhint: {}\n", origin_of(loaded, key), key, message, hint));
}

std::vector<int> cores_in_use(const Scenario& scenario) {
  std::vector<int> cores;
  for (const Worker& worker : scenario.cluster.workers) cores.push_back(worker.cores);
  for (const Level& level : scenario.heterogeneity.changes.schedule)
    cores.insert(cores.end(), level.cores.begin(), level.cores.end());
  return cores;
}

void check_cores(const LoadedScenario& loaded, const Profile& profile) {
  std::vector<int> measured;
  for (const ComputeFit& fit : profile.compute) measured.push_back(fit.cores);
  const auto check_measured = [&](int cores, const std::string& key) {
    if (!fit_for_cores(profile, cores))
      fail_at(loaded, key,
              fmt::format("{} was measured with {} cores, not with {}", profile.path,
                          fmt::join(measured, ", "), cores),
              "calibrate with `--cores`, or describe another machine by `speed`");
  };
  const std::vector<Worker>& workers = loaded.scenario.cluster.workers;
  for (std::size_t w = 0; w < workers.size(); ++w)
    check_measured(workers[w].cores, fmt::format("cluster.workers.{}.cores", w));
  const std::vector<Level>& schedule = loaded.scenario.heterogeneity.changes.schedule;
  for (std::size_t i = 0; i < schedule.size(); ++i)
    for (const int cores : schedule[i].cores)
      check_measured(cores, fmt::format("heterogeneity.schedule.{}.cores", i));
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

// What is to be said about a statistical learner; nothing about the others.
std::vector<std::string> check_learner(const LoadedScenario& loaded) {
  const LearnerConfig& learner = loaded.scenario.learner;
  if (!uses_model(loaded.scenario)) return {};
  std::error_code ignored;
  if (!std::filesystem::exists(learner.model, ignored))
    fail_at(loaded, "learner.model", fmt::format("there is no learner {}", learner.model),
            "fit one: `paceline fit --help`");
  const StatisticalModel model = read_statistical_model(learner.model);
  if (learner.kind == LearnerKind::statistical && model.source == LearnerSource::assumed)
    fail_at(loaded, "learner.kind", fmt::format("no recorded runs stand behind {}", model.path),
            "write `kind: assumed`, and the results will say so");
  return learner_notes(loaded.scenario, model);
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
  static_cast<void>(heterogeneity(scenario));  // a trace that makes no sense is refused before the first run

  std::vector<std::string> notes = resolve_jitter(profile, jitter_overrides(scenario)).notes;
  const BatchingConfig& batching = scenario.batching;
  const bool fixed = batching.controller == BatchControllerKind::uniform;
  for (std::string& note : extrapolation_notes(profile, scenario.cluster.workers,
                                               fixed ? batching.initial_samples : batching.minimum_samples,
                                               fixed ? batching.initial_samples : batching.maximum_samples))
    notes.push_back(std::move(note));
  for (std::string& note : poor_fit_notes(scenario, profile)) notes.push_back(std::move(note));
  for (std::string& note : check_learner(loaded)) notes.push_back(std::move(note));
  return notes;
}

std::string check_drawing(const LoadedScenario& loaded, const Profile& profile) {
  if (profile.ensemble.empty())
    fail_at(
        loaded, "job.profile",
        fmt::format("{} does not say how sure it is: it holds no ensemble of parameters", profile.path),
        "calibrate again with this version, with at least 3 processes; or leave out --profile-uncertainty");
  return fmt::format("each replication draws its compute times from the {} equally likely calibrations in {}",
                     profile.ensemble.size(), profile.path);
}

RunResult simulate(const Scenario& scenario, const Profile& profile, std::uint32_t replication,
                   RecordingOptions recording, ProfileUse use) {
  const Seed seed{scenario.seed, replication};
  const Profile truth =
      use == ProfileUse::drawn ? drawn_profile(profile, cores_in_use(scenario), seed) : profile;
  const World world = build_world(scenario, truth, seed);
  const std::unique_ptr<Learner> learner = build_learner(scenario, world.servers, seed);
  // Policies know the profile, never the draw.
  Coordinator coordinator = build_coordinator(scenario, build_world(scenario, profile, seed));
  SimGridTimeline timeline(scenario.cluster);
  RunRecorder recorder(seed, recording);
  Executor executor(coordinator, world, *learner, timeline, recorder);
  const std::optional<Stalled> stalled = executor.run();
  const Seconds end = stalled ? stalled->at : recorder.last_time();
  RunResult result = recorder.finish(end, stalled ? std::optional(stalled->waiting) : std::nullopt);
  result.links = timeline.link_use();
  return result;
}

}  // namespace paceline

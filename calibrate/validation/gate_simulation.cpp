#include "calibrate/validation/gate_simulation.hpp"

#include <algorithm>
#include <cmath>
#include <iterator>
#include <numeric>
#include <utility>

#include "sim/base/check.hpp"
#include "sim/base/order_statistics.hpp"
#include "sim/study/study_runs.hpp"

namespace paceline {
namespace {

constexpr int runs_of_timed_jobs = 5;
constexpr int runs_of_controllers = 20;
constexpr double most_epochs = 20.0;
constexpr double most_updates = 20'000.0;

// By run, then by worker.
using SimulatedSteps = std::vector<std::vector<std::vector<calibrate::TimedStep>>>;
std::vector<RunResult> simulated(LoadedScenario job, int runs, const RecordingOptions& recorded) {
  job.scenario.learner = {};
  job.scenario.replications = runs;
  PreparedStudy study = prepare_scenarios({std::move(job)}, ProfileUse::as_fitted);
  return run_whole(study, missing_runs(study.planned, {}), 1, recorded).variants.front().runs;
}

SimulatedSteps simulated_steps(const LoadedScenario& loaded, const Profiles& profiles, WaitsFor waits_for,
                               std::span<const std::int64_t> batches) {
  LoadedScenario job = loaded;
  job.scenario = live::together_job(loaded.scenario, profiles, waits_for, batches);
  SimulatedSteps steps;
  for (const RunResult& run : simulated(job, runs_of_timed_jobs, {.iterations = true, .trace = false}))
    steps.push_back(live::finished_iterations(run.iterations, job.scenario.cluster.workers.size()));
  return steps;
}

void lower_to_whole_mean(std::vector<std::int64_t>& batches) {
  std::int64_t total = std::accumulate(batches.begin(), batches.end(), std::int64_t{0});
  for (; total % std::ssize(batches) != 0; --total) --*std::ranges::max_element(batches);
}

}  // namespace

std::vector<live::CycleTime> simulated_cycles(const LoadedScenario& loaded, const Profiles& profiles,
                                              WaitsFor waits_for, std::span<const std::int64_t> batches) {
  std::vector<live::CycleTime> means(loaded.scenario.cluster.workers.size());
  const SimulatedSteps runs = simulated_steps(loaded, profiles, waits_for, batches);
  for (const auto& run : runs) {
    const std::vector<live::CycleTime> of_run = live::mean_cycles(run);
    for (std::size_t w = 0; w < means.size(); ++w) {
      means[w].iteration += of_run[w].iteration / static_cast<double>(runs.size());
      means[w].between += of_run[w].between / static_cast<double>(runs.size());
    }
  }
  return means;
}

std::vector<std::int64_t> batches_in_step(const LoadedScenario& loaded, const Profiles& profiles) {
  std::vector<std::int64_t> batches = live::initial_batches(loaded.scenario);
  if (!loaded.scenario.batching.controller->adjusts) return batches;
  LoadedScenario job = loaded;
  job.scenario = live::together_job(loaded.scenario, profiles, WaitsFor::all, batches);
  job.scenario.batching = loaded.scenario.batching;
  const double updates_an_epoch =
      static_cast<double>(job.scenario.job.dataset.train_samples) /
      static_cast<double>(std::ssize(batches) * job.scenario.batching.initial_samples);
  job.scenario.stop.epochs =
      std::min(loaded.scenario.stop.epochs, std::max(most_epochs, most_updates / updates_an_epoch));
  std::vector<std::vector<double>> last(batches.size());
  for (const RunResult& run : simulated(job, runs_of_controllers, {.iterations = false, .trace = false})) {
    for (std::vector<double>& of_worker : last) of_worker.emplace_back();
    for (const BatchRecord& batch : run.batches)
      last.at(batch.worker.value).back() = static_cast<double>(batch.batch_samples);
  }
  for (std::size_t w = 0; w < batches.size(); ++w) batches[w] = std::llround(median(std::move(last[w])));
  lower_to_whole_mean(batches);
  return batches;
}

calibrate::StepVariation simulated_variation(LoadedScenario loaded, const Profiles& profiles,
                                             std::span<const std::int64_t> batches) {
  JitterOverrides& jitter = loaded.scenario.jitter;
  jitter = {.run_cv = 0.0, .worker_cv = 0.0, .iteration_cv = 0.0, .message = jitter.message};
  std::vector<std::vector<calibrate::TimedStep>> series;
  for (auto& run : simulated_steps(loaded, profiles, WaitsFor::nobody, batches))
    std::ranges::move(run, std::back_inserter(series));
  return calibrate::step_variation(series);
}

calibrate::StepVariation own_variation(const LoadedScenario& loaded, const Profiles& profiles,
                                       const calibrate::StepVariation& together,
                                       const std::optional<calibrate::StepVariation>& of_smallest,
                                       const std::vector<live::AloneTime>& alone) {
  const calibrate::StepVariation own =
      less(together, simulated_variation(loaded, profiles, live::initial_batches(loaded.scenario)));
  if (!of_smallest || !is_measured(*of_smallest)) return own;
  const Profile& profile = profiles.of(0);
  const bool fetches = profile.loading && loaded.scenario.job.data_loading == DataLoading::inline_;
  const auto time_of = [&](std::int64_t batch) {
    const auto found =
        std::ranges::find(alone, batch, [](const live::AloneTime& time) { return time.computing.batch; });
    check(found != alone.end(), "each batch of a job of all workers was timed alone");
    const Seconds computing{found->computing.wall.seconds};
    return fetches ? computing + profile.loading->of(static_cast<double>(batch)) : computing;
  };
  const std::int64_t smallest = alone.front().computing.batch;
  const std::vector<std::int64_t> small(loaded.scenario.cluster.workers.size(), smallest);
  return by_length(own, time_of(loaded.scenario.batching.initial_samples),
                   less(*of_smallest, simulated_variation(loaded, profiles, small)), time_of(smallest));
}

}  // namespace paceline

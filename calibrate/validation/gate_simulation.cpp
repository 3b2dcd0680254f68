#include "calibrate/validation/gate_simulation.hpp"

#include <algorithm>
#include <iterator>
#include <utility>

#include "sim/base/check.hpp"
#include "sim/study/study_runs.hpp"

namespace paceline {
namespace {

// By run, then by worker.
using SimulatedSteps = std::vector<std::vector<std::vector<calibrate::TimedStep>>>;
SimulatedSteps simulated_steps(const LoadedScenario& loaded, const Profiles& profiles, WaitsFor waits_for) {
  LoadedScenario job = loaded;
  job.scenario = live::together_job(loaded.scenario, profiles, waits_for);
  job.scenario.learner = {};
  job.scenario.replications = 5;
  PreparedStudy study = prepare_scenarios({job}, ProfileUse::as_fitted);
  const WholeRuns whole =
      run_whole(study, missing_runs(study.planned, {}), 1, {.iterations = true, .trace = false});
  SimulatedSteps steps;
  for (const RunResult& run : whole.variants.front().runs)
    steps.push_back(live::finished_iterations(run.iterations, job.scenario.cluster.workers.size()));
  return steps;
}

}  // namespace

std::vector<live::CycleTime> simulated_cycles(const LoadedScenario& loaded, const Profiles& profiles,
                                              WaitsFor waits_for) {
  std::vector<live::CycleTime> means(loaded.scenario.cluster.workers.size());
  const SimulatedSteps runs = simulated_steps(loaded, profiles, waits_for);
  for (const auto& run : runs) {
    const std::vector<live::CycleTime> of_run = live::mean_cycles(run);
    for (std::size_t w = 0; w < means.size(); ++w) {
      means[w].iteration += of_run[w].iteration / static_cast<double>(runs.size());
      means[w].between += of_run[w].between / static_cast<double>(runs.size());
    }
  }
  return means;
}

calibrate::StepVariation simulated_variation(LoadedScenario loaded, const Profiles& profiles) {
  JitterOverrides& jitter = loaded.scenario.jitter;
  jitter = {.run_cv = 0.0, .worker_cv = 0.0, .iteration_cv = 0.0, .message = jitter.message};
  std::vector<std::vector<calibrate::TimedStep>> series;
  for (auto& run : simulated_steps(loaded, profiles, WaitsFor::nobody))
    std::ranges::move(run, std::back_inserter(series));
  return calibrate::step_variation(series);
}

Scenario with_initial_batch(Scenario scenario, std::int64_t samples) {
  scenario.batching.initial_samples = samples;
  return scenario;
}

calibrate::StepVariation own_variation(const LoadedScenario& loaded, const Profiles& profiles,
                                       const calibrate::StepVariation& together,
                                       const std::optional<calibrate::StepVariation>& of_smallest,
                                       const std::vector<live::AloneTime>& alone) {
  const calibrate::StepVariation own = less(together, simulated_variation(loaded, profiles));
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
  LoadedScenario small = loaded;
  small.scenario = with_initial_batch(loaded.scenario, smallest);
  return by_length(own, time_of(loaded.scenario.batching.initial_samples),
                   less(*of_smallest, simulated_variation(small, profiles)), time_of(smallest));
}

}  // namespace paceline

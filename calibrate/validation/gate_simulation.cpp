#include "calibrate/validation/gate_simulation.hpp"

#include <algorithm>
#include <iterator>
#include <utility>

#include "sim/study/study_runs.hpp"

namespace paceline {
namespace {

// By run, then by worker.
using SimulatedSteps = std::vector<std::vector<std::vector<calibrate::TimedStep>>>;
SimulatedSteps simulated_steps(const LoadedScenario& loaded, const Profiles& profiles) {
  LoadedScenario job = loaded;
  job.scenario = live::together_job(loaded.scenario, profiles);
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

std::vector<live::CycleTime> simulated_cycles(const LoadedScenario& loaded, const Profiles& profiles) {
  std::vector<live::CycleTime> means(loaded.scenario.cluster.workers.size());
  const SimulatedSteps runs = simulated_steps(loaded, profiles);
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
  for (auto& run : simulated_steps(loaded, profiles)) std::ranges::move(run, std::back_inserter(series));
  return calibrate::step_variation(series);
}

}  // namespace paceline

#include "calibrate/validation/simulated_prediction.hpp"

#include <algorithm>
#include <string>
#include <utility>

#include "sim/scenario/reader.hpp"
#include "sim/study/study_runs.hpp"

namespace paceline {
namespace {

PredictedRun predicted_run(const RunResult& run, const TrainingPlan& plan) {
  PredictedRun predicted;
  predicted.total_time_s = run.end_time.value();
  for (std::size_t p = 0; p < run.phases.size() && p < plan.phases.size(); ++p) {
    const PhaseRecord& phase = run.phases[p];
    if (phase.updates == 0) continue;
    const auto updates = static_cast<double>(phase.updates);
    predicted.phases.push_back(
        {plan.phases[p].synchronous, updates, (phase.end - phase.begin).value() / updates});
  }
  if (run.end_reason != "workload-done") return predicted;
  for (const CurvePoint& point : run.curve) {
    predicted.accuracy.push_back({static_cast<double>(point.samples) / plan.batch_samples, point.accuracy});
    predicted.time_s.emplace_back(point.time.value());
  }
  return predicted;
}

}  // namespace

std::vector<SimulatedSetting> simulate_settings(const std::vector<std::filesystem::path>& files, int jobs) {
  std::vector<LoadedScenario> scenarios;
  scenarios.reserve(files.size());
  for (const std::filesystem::path& file : files) scenarios.push_back(load_scenario(file, {}));
  std::vector<SimulatedSetting> settings;
  if (scenarios.empty()) return settings;
  PreparedStudy study = prepare_scenarios(std::move(scenarios), ProfileUse::as_fitted);
  WholeRuns whole = run_whole(study, missing_runs(study.planned, {}), jobs, {});
  for (ScenarioResults& results : whole.variants)
    settings.push_back({std::move(results.runs), std::move(results.notes)});
  return settings;
}

PredictedRuns predicted_runs(const std::vector<RunResult>& runs, const TrainingPlan& plan) {
  PredictedRuns predicted;
  for (const RunResult& run : runs) predicted.runs.push_back(predicted_run(run, plan));
  return predicted;
}

}  // namespace paceline

#include "calibrate/validation/recorded_validation.hpp"

#include <algorithm>
#include <cmath>
#include <utility>

#include <fmt/format.h>

#include "calibrate/learning/time_variation.hpp"
#include "calibrate/validation/folds.hpp"
#include "calibrate/validation/recorded_scenario.hpp"
#include "sim/base/atomic_file.hpp"
#include "sim/study/study_runs.hpp"

namespace paceline {
namespace {

namespace fs = std::filesystem;

constexpr int replayed_runs = 100;  // where times are not known

std::vector<double> thresholds_for(int classes) {
  if (classes > 10) return {0.60, 0.70};
  return {0.80, 0.88, 0.90};
}

std::vector<double> covered_thresholds(int classes) {
  if (classes > 10) return {0.60, 0.70, 0.73};
  return {0.80, 0.85, 0.88, 0.90};
}

FittedLearner learner_of(const StatisticalModel& model) {
  return {{model.form, model.values, 0.0}, model.spread, model.noise};
}

// One group to be predicted, and the scenario that does it, if the fitted runs tell its times.
struct Prediction {
  std::size_t fold = 0;
  const TracedGroup* group = nullptr;
  std::optional<fs::path> scenario;
  ClockRates rates{};  // of the fitted runs; none of delayed workers
};

// What the fitted runs say about the times of the group; absent where they do not say enough.
struct Times {
  RecordedCosts costs;
  Delay delay;
};

std::optional<Times> times_of(const PlannedFold& fold, const RunGroup& group) {
  std::vector<const RunGroup*> all;
  for (const TracedGroup& fitted : fold.fitted) all.push_back(&fitted.group);
  const std::optional<RecordedCosts> costs = undelayed_costs(all);
  if (!costs) return std::nullopt;
  for (const PlanPhase& phase : group.plan().phases)
    if (phase.synchronous && !costs->serial_per_worker_s) return std::nullopt;
  const int delayed = group.plan().delayed_workers;
  if (delayed == 0) return Times{*costs, {}};
  const std::optional<double> delay = recorded_delay_s(all, group.plan().added_latency_s);
  if (!delay) return std::nullopt;
  return Times{*costs, {delayed, *delay}};
}

fs::path write_scenario(const PlannedFold& fold, const TracedGroup& group, const Times& times,
                        const fs::path& learner, const ValidationOptions& options) {
  const std::string name = file_name_of(fold.name) + "--" + file_name_of(group.group.name);
  const TrainingPlan& plan = group.group.plan();
  write_file_atomically(options.folder / "profiles" / (name + ".json"),
                        profile_text(times.costs, plan.batch_samples, "recorded runs of " + fold.name));
  const RecordedSetting setting{.name = group.group.name,
                                .plan = plan,
                                .profile = "../profiles/" + name + ".json",
                                .learner = "../learners/" + learner.filename().string(),
                                .evaluate_every_minibatches = evaluation_spacing(group.group),
                                .delay = times.delay,
                                .replications = options.replications};
  const fs::path file = options.folder / "scenarios" / (name + ".yaml");
  write_file_atomically(file, scenario_text(setting, times.costs));
  return file;
}

// Of the group's own setting, where other runs of it are fitted. Nothing of delayed workers: their steps are
// not those of the others.
ClockRates undelayed_rates(const PlannedFold& fold, const RunGroup& group) {
  if (group.plan().delayed_workers > 0) return {};
  std::vector<const RunGroup*> all;
  std::vector<const RunGroup*> own;
  for (const TracedGroup& fitted : fold.fitted) {
    all.push_back(&fitted.group);
    if (fitted.group.name == group.name && fold.left_out == LeftOut::runs) own.push_back(&fitted.group);
  }
  return typical_rates(own.empty() ? all : own, group.plan().workers);
}

// Runs and campaigns left out are replayed alone: there are many, and policies show what simulation adds.
bool is_simulated(const PlannedFold& fold, const ValidationOptions& options) {
  return options.simulates &&
         (fold.left_out == LeftOut::policies || fold.left_out == LeftOut::fixed_policies);
}

std::vector<Prediction> plan_predictions(const std::vector<PlannedFold>& folds,
                                         const std::vector<FoldFiles>& learners,
                                         const ValidationOptions& options, std::vector<std::string>& notes) {
  std::vector<Prediction> predictions;
  for (std::size_t f = 0; f < folds.size(); ++f) {
    for (const TracedGroup& group : folds[f].held_out) {
      predictions.push_back({f, &group, std::nullopt, undelayed_rates(folds[f], group.group)});
      if (!is_simulated(folds[f], options)) continue;
      if (const std::optional<Times> times = times_of(folds[f], group.group))
        predictions.back().scenario = write_scenario(folds[f], group, *times, learners[f].fit, options);
      else
        notes.push_back(fmt::format("{}: the times of {} do not follow from the runs fitted", folds[f].name,
                                    group.group.name));
    }
  }
  return predictions;
}

// In the order of the predictions.
std::vector<PredictedRuns> simulate(const std::vector<Prediction>& predictions,
                                    const std::vector<StatisticalModel>& models, int jobs,
                                    std::vector<std::string>& notes) {
  std::vector<fs::path> scenarios;
  for (const Prediction& prediction : predictions)
    if (prediction.scenario) scenarios.push_back(*prediction.scenario);
  const std::vector<SimulatedSetting> simulated = simulate_settings(scenarios, jobs);
  std::vector<PredictedRuns> runs;
  auto next = simulated.begin();
  for (const Prediction& prediction : predictions) {
    if (prediction.scenario) {
      for (const std::string& note : next->notes)
        if (std::ranges::find(notes, note) == notes.end()) notes.push_back(note);
      runs.push_back(predicted_runs((next++)->runs, prediction.group->group.plan()));
    } else {
      runs.push_back(predict_runs(learner_of(models[prediction.fold]), *prediction.group, prediction.rates,
                                  replayed_runs));
    }
  }
  return runs;
}

}  // namespace

RecordedValidation validate_recorded(const RecordedRuns& recorded, const ValidationOptions& options,
                                     const std::function<void(double, const std::string&)>& on_progress) {
  RecordedValidation validation;
  const std::vector<PlannedFold> folds = plan_folds(recorded.campaigns, validation.notes);
  for (const char* part : {"learners", "profiles", "scenarios"})
    fs::create_directories(options.folder / part);
  const std::vector<FoldFiles> learners = fit_folds(recorded.campaigns, folds,
                                                    {.form = options.form,
                                                     .members = options.members,
                                                     .jobs = options.jobs,
                                                     .folder = options.folder / "learners",
                                                     .known = options.learners},
                                                    on_progress, validation.notes);
  std::vector<StatisticalModel> models;
  std::vector<TimeVariation> variations;
  for (std::size_t f = 0; f < folds.size(); ++f) {
    models.push_back(read_statistical_model(learners[f].ensemble));
    variations.push_back(time_variation(folds[f].fitted, folds[f].others));
    // Their own setting was fitted.
    if (folds[f].left_out == LeftOut::runs) variations.back().setting = 0.0;
    if (folds[f].left_out == LeftOut::campaigns)
      variations.back().cluster = std::hypot(variations.back().cluster, std::sqrt(2.0) * campaigns_differ);
    validation.folds.push_back({folds[f].name, {}, {}});
    for (const TracedGroup& group : folds[f].fitted)
      validation.folds.back().fitted_on.push_back(group.group.name);
  }
  const std::vector<Prediction> predictions = plan_predictions(folds, learners, options, validation.notes);
  const std::vector<PredictedRuns> runs = simulate(predictions, models, options.jobs, validation.notes);
  for (std::size_t i = 0; i < predictions.size(); ++i) {
    const Prediction& prediction = predictions[i];
    const PlannedFold& fold = folds[prediction.fold];
    const RunGroup& group = prediction.group->group;
    const bool is_delayed = group.plan().delayed_workers > 0;
    const ClockRates rates = prediction.scenario && is_delayed ? step_times(runs[i]) : prediction.rates;
    const CoverageRequest request{.left_out = name_of(fold.left_out),
                                  .fold = fold.name,
                                  .model = models[prediction.fold],
                                  .rates = rates,
                                  .variation = variations[prediction.fold],
                                  .sources = {.cluster = !options.same_cluster}};
    const PredictedRuns sets = predicted_sets(request, *prediction.group);
    const std::vector<double> thresholds = thresholds_for(group.runs.front().classes);
    if (fold.left_out == LeftOut::policies || fold.left_out == LeftOut::fixed_policies)
      for (HeldOutRow& row : compare_held_out(runs[i], fold.fitted, group, thresholds, &sets))
        validation.folds[prediction.fold].rows.push_back(std::move(row));
    if (fold.left_out == LeftOut::fixed_policies) continue;
    for (CoverageRow& row :
         coverage_of(request, *prediction.group, sets, covered_thresholds(group.runs.front().classes)))
      validation.coverage.push_back(std::move(row));
  }
  std::erase_if(validation.folds, [](const FoldResult& fold) { return fold.rows.empty(); });
  if (options.simulates)
    validation.step_times = predict_step_times(recorded, options.folder / "step-times", options.jobs);
  return validation;
}

}  // namespace paceline

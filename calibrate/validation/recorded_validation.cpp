#include "calibrate/validation/recorded_validation.hpp"

#include <algorithm>
#include <map>
#include <set>
#include <utility>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "calibrate/learning/fit_report.hpp"
#include "calibrate/validation/recorded_scenario.hpp"
#include "sim/base/atomic_file.hpp"
#include "sim/base/diagnostic.hpp"
#include "sim/study/pool/process_pool.hpp"
#include "sim/study/study_runs.hpp"

namespace paceline {
namespace {

namespace fs = std::filesystem;

constexpr int replayed_runs = 100;  // where times are not known

// Campaigns, and the policies that their fixed folds are fitted on.
const std::map<std::string, std::vector<std::string>> fixed_folds{
    {"resnet32-cifar10, until August 2020", {"bsp", "asp", "bsp05-asp95"}},
    {"resnet50-cifar100", {"bsp", "asp"}},
};

std::vector<double> thresholds_for(int classes) {
  if (classes > 10) return {0.60, 0.70};
  return {0.80, 0.88, 0.90};
}

std::set<std::string> policies_of(const std::vector<RunGroup>& groups) {
  std::set<std::string> policies;
  for (const RunGroup& group : groups) policies.insert(policy_of(group.name));
  return policies;
}

struct PlannedFold {
  std::string name;
  std::vector<TracedGroup> fitted;
  std::vector<TracedGroup> held_out;
};

PlannedFold split(std::string name, const std::vector<RunGroup>& groups,
                  const std::function<bool(const std::string&)>& is_fitted) {
  std::vector<RunGroup> fitted;
  std::vector<RunGroup> held_out;
  for (const RunGroup& group : groups)
    (is_fitted(policy_of(group.name)) ? fitted : held_out).push_back(group);
  return {std::move(name), trace_groups(fitted, fitted), trace_groups(held_out, fitted)};
}

std::vector<PlannedFold> plan_folds(const Campaign& campaign, std::vector<std::string>& notes) {
  std::vector<PlannedFold> planned;
  const std::set<std::string> policies = policies_of(campaign.groups);
  if (const auto fixed = fixed_folds.find(campaign.name); fixed != fixed_folds.end()) {
    const std::vector<std::string>& wanted = fixed->second;
    const auto is_wanted = [&](const std::string& policy) {
      return std::ranges::find(wanted, policy) != wanted.end();
    };
    const auto there = static_cast<std::size_t>(std::ranges::count_if(policies, is_wanted));
    if (there == wanted.size() && policies.size() > there)
      planned.push_back(split(fmt::format("{}: fixed fold, from {}", campaign.name, fmt::join(wanted, ", ")),
                              campaign.groups, is_wanted));
  }
  if (policies.size() < 2) {
    notes.push_back(fmt::format("{}: one policy only, nothing to predict it from", campaign.name));
    return planned;
  }
  for (const std::string& out : policies)
    planned.push_back(split(fmt::format("{}: all but {}", campaign.name, out), campaign.groups,
                            [&](const std::string& policy) { return policy != out; }));
  return planned;
}

FittedLearner learner_of(const StatisticalModel& model) {
  return {{model.form, model.values, 0.0}, model.spread, model.noise};
}

// Fits the folds side by side, each in a process of its own; their learner files lie in `folder` then.
std::vector<fs::path> fit_folds(const std::vector<PlannedFold>& folds, const ValidationOptions& options,
                                const fs::path& folder,
                                const std::function<void(double, const std::string&)>& on_progress) {
  const auto fit = [&](std::size_t i) {
    const PlannedFold& fold = folds[i];
    StatisticalModel model = model_of(fit_learner(*options.form, fold.fitted, {}), fold.fitted, fold.name);
    model.command = "paceline validate recorded";
    return statistical_model_json(model);
  };
  std::vector<fs::path> files(folds.size());
  std::size_t finished = 0;
  run_in_processes(folds.size(), options.jobs, fit, [&](std::size_t i, const TaskOutcome& outcome) {
    if (outcome.status == TaskStatus::user_error) throw UserError(outcome.output);
    if (outcome.status != TaskStatus::done)
      throw SimulationFailed(fmt::format("the fit of {} failed: {}", folds[i].name, outcome.output));
    files[i] = folder / (file_name_of(folds[i].name) + ".json");
    write_file_atomically(files[i], outcome.output);
    on_progress(static_cast<double>(++finished) / static_cast<double>(folds.size()), "fits");
  });
  return files;
}

// One group to be predicted, and the scenario that does it, if the fitted runs tell its times.
struct Prediction {
  std::size_t fold = 0;
  const TracedGroup* group = nullptr;
  std::optional<fs::path> scenario;
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
  const int delayed = delayed_workers(group.name);
  if (delayed == 0) return Times{*costs, {}};
  const std::optional<double> delay = recorded_delay_s(all);
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

std::vector<Prediction> plan_predictions(const std::vector<PlannedFold>& folds,
                                         const std::vector<fs::path>& learners,
                                         const ValidationOptions& options, std::vector<std::string>& notes) {
  std::vector<Prediction> predictions;
  for (std::size_t f = 0; f < folds.size(); ++f) {
    for (const TracedGroup& group : folds[f].held_out) {
      predictions.push_back({f, &group, std::nullopt});
      if (const std::optional<Times> times = times_of(folds[f], group.group))
        predictions.back().scenario = write_scenario(folds[f], group, *times, learners[f], options);
      else
        notes.push_back(fmt::format("{}: the times of {} do not follow from the runs fitted", folds[f].name,
                                    group.group.name));
    }
  }
  return predictions;
}

// In the order of the predictions.
std::vector<PredictedRuns> simulate(const std::vector<Prediction>& predictions,
                                    const std::vector<fs::path>& learners, int jobs,
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
      const FittedLearner learner = learner_of(read_statistical_model(learners[prediction.fold]));
      runs.push_back(predict_runs(learner, *prediction.group, {}, replayed_runs));
    }
  }
  return runs;
}

}  // namespace

RecordedValidation validate_recorded(const RecordedRuns& recorded, const ValidationOptions& options,
                                     const std::function<void(double, const std::string&)>& on_progress) {
  RecordedValidation validation;
  std::vector<PlannedFold> folds;
  for (const Campaign& campaign : recorded.campaigns)
    for (PlannedFold& fold : plan_folds(campaign, validation.notes)) folds.push_back(std::move(fold));
  for (const char* part : {"learners", "profiles", "scenarios"})
    fs::create_directories(options.folder / part);
  const std::vector<fs::path> learners = fit_folds(folds, options, options.folder / "learners", on_progress);
  const std::vector<Prediction> predictions = plan_predictions(folds, learners, options, validation.notes);
  const std::vector<PredictedRuns> runs = simulate(predictions, learners, options.jobs, validation.notes);

  for (const PlannedFold& fold : folds) {
    validation.folds.push_back({fold.name, {}, {}});
    for (const TracedGroup& group : fold.fitted)
      validation.folds.back().fitted_on.push_back(group.group.name);
  }
  for (std::size_t i = 0; i < predictions.size(); ++i) {
    const std::size_t fold = predictions[i].fold;
    const RunGroup& group = predictions[i].group->group;
    const std::vector<double> thresholds = thresholds_for(group.runs.front().classes);
    for (HeldOutRow& row : compare_held_out(runs[i], folds[fold].fitted, group, thresholds))
      validation.folds[fold].rows.push_back(std::move(row));
  }
  validation.step_times = predict_step_times(recorded, options.folder / "step-times", options.jobs);
  return validation;
}

}  // namespace paceline

#include "calibrate/validation/folds.hpp"

#include <algorithm>
#include <cmath>
#include <map>
#include <optional>
#include <set>
#include <utility>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "calibrate/learning/ensemble.hpp"
#include "calibrate/learning/fit_report.hpp"
#include "calibrate/learning/recorded_costs.hpp"
#include "calibrate/validation/recorded_scenario.hpp"
#include "sim/base/atomic_file.hpp"
#include "sim/base/diagnostic.hpp"
#include "sim/study/pool/process_pool.hpp"
#include "sim/study/study_runs.hpp"

namespace paceline {
namespace {

namespace fs = std::filesystem;

// Campaigns, and the policies that their fixed folds are fitted on.
const std::map<std::string, std::vector<std::string>> fixed_folds{
    {"resnet32-cifar10, until August 2020", {"bsp", "asp", "bsp05-asp95"}},
    {"resnet50-cifar100", {"bsp", "asp"}},
};

constexpr std::size_t run_folds = 5;

std::set<std::string> policies_of(const std::vector<RunGroup>& groups) {
  std::set<std::string> policies;
  for (const RunGroup& group : groups) policies.insert(policy_of(group.name));
  return policies;
}

PlannedFold split(const Campaign& campaign, std::string name, LeftOut left_out,
                  const std::function<bool(const std::string&)>& is_fitted) {
  std::vector<RunGroup> fitted;
  std::vector<RunGroup> held_out;
  for (const RunGroup& group : campaign.groups)
    (is_fitted(policy_of(group.name)) ? fitted : held_out).push_back(group);
  return {std::move(name),
          campaign.name,
          campaign.name,
          left_out,
          trace_groups(fitted, fitted),
          trace_groups(held_out, fitted),
          {}};
}

void plan_policies(const Campaign& campaign, std::vector<PlannedFold>& planned,
                   std::vector<std::string>& notes) {
  const std::set<std::string> policies = policies_of(campaign.groups);
  if (const auto fixed = fixed_folds.find(campaign.name); fixed != fixed_folds.end()) {
    const std::vector<std::string>& wanted = fixed->second;
    const auto is_wanted = [&](const std::string& policy) {
      return std::ranges::find(wanted, policy) != wanted.end();
    };
    const auto there = static_cast<std::size_t>(std::ranges::count_if(policies, is_wanted));
    if (there == wanted.size() && policies.size() > there)
      planned.push_back(split(campaign,
                              fmt::format("{}: fixed fold, from {}", campaign.name, fmt::join(wanted, ", ")),
                              LeftOut::fixed_policies, is_wanted));
  }
  if (policies.size() < 2) {
    notes.push_back(fmt::format("{}: one policy only, nothing to predict it from", campaign.name));
    return;
  }
  for (const std::string& out : policies)
    planned.push_back(split(campaign, fmt::format("{}: all but {}", campaign.name, out), LeftOut::policies,
                            [&](const std::string& policy) { return policy != out; }));
}

// Every fifth run, so that there are at most five folds; a group keeps at least one run.
void plan_runs(const Campaign& campaign, std::vector<PlannedFold>& planned) {
  std::size_t most = 0;
  for (const RunGroup& group : campaign.groups) most = std::max(most, group.runs.size());
  if (most < 2) return;
  for (std::size_t k = 0; k < std::min(most, run_folds); ++k) {
    std::vector<RunGroup> fitted;
    std::vector<RunGroup> held_out;
    for (const RunGroup& group : campaign.groups) {
      RunGroup out{group.name, {}};
      RunGroup rest{group.name, {}};
      for (std::size_t r = 0; r < group.runs.size(); ++r)
        (r % run_folds == k && group.runs.size() > 1 ? out : rest).runs.push_back(group.runs[r]);
      if (!out.runs.empty()) held_out.push_back(std::move(out));
      fitted.push_back(std::move(rest));
    }
    planned.push_back({fmt::format("{}: all but part {} of the runs", campaign.name, k + 1),
                       campaign.name,
                       campaign.name,
                       LeftOut::runs,
                       trace_groups(fitted, fitted),
                       trace_groups(held_out, fitted),
                       {}});
  }
}

// "resnet32-cifar10" of "resnet32-cifar10, until August 2020".
std::string network_of(const Campaign& campaign) {
  return campaign.name.substr(0, campaign.name.find(','));
}

void plan_campaigns(const std::vector<Campaign>& campaigns, std::vector<PlannedFold>& planned) {
  for (const Campaign& out : campaigns)
    for (const Campaign& from : campaigns)
      if (&out != &from && network_of(out) == network_of(from))
        planned.push_back({fmt::format("{}: from {}", out.name, from.name),
                           out.name,
                           from.name,
                           LeftOut::campaigns,
                           trace_groups(from.groups, from.groups),
                           trace_groups(out.groups, from.groups),
                           {}});
}

std::string ensemble_file(const PlannedFold& fold) {
  return file_name_of(fold.name) + "-ensemble.json";
}

struct FoldFit {
  StatisticalModel model;
  bool knows_error = false;
};

// Of an earlier validation of these folds; nothing where it has no such file. What is unknown about it is
// told from its members again.
std::optional<FoldFit> known_fit(const PlannedFold& fold, const FoldFits& how) {
  const fs::path file = how.known / ensemble_file(fold);
  if (how.known.empty() || !fs::exists(file)) return std::nullopt;
  FoldFit fit{read_statistical_model(file)};
  std::vector<std::string> groups;
  for (const TracedGroup& group : fold.fitted) groups.push_back(group.group.name);
  if (fit.model.fitted_on != groups)
    throw UserError(fmt::format("{} was fitted to other runs than those of this folder", file.string()),
                    "leave --learners out");
  const std::optional<ModelError> error =
      error_unseen({{fit.model.form, fit.model.values, 0.0}, fit.model.spread, fit.model.noise}, fold.fitted,
                   fit.model.members);
  fit.model.model_error = error.value_or(ModelError{});
  fit.knows_error = error.has_value();
  return fit;
}

FoldFit fit_fold(const PlannedFold& fold, const FoldFits& how) {
  if (std::optional<FoldFit> known = known_fit(fold, how)) return std::move(*known);
  const FittedLearner learner = fit_learner(*how.form, fold.fitted, {});
  FoldFit fit{model_of(learner, fold.fitted, fold.name)};
  fit.model.command = "paceline validate recorded";
  const Ensemble ensemble = fit_ensemble(learner, fold.fitted, how.members, {});
  fit.model.members = ensemble.members;
  fit.model.model_error = ensemble.error.value_or(ModelError{});
  fit.knows_error = ensemble.error.has_value();
  return fit;
}

double run_deviation(const PlannedFold& fold) {
  double squares = 0.0;
  double degrees = 0.0;
  for (const TracedGroup& group : fold.fitted)
    if (const std::optional<double> deviation = group.group.final_accuracy_deviation()) {
      const auto freedom = static_cast<double>(group.group.runs.size() - 1);
      squares += freedom * *deviation * *deviation;
      degrees += freedom;
    }
  return degrees > 0.0 ? std::sqrt(squares / degrees) : 0.0;
}

// Mean over the folds of other campaigns that know theirs.
ModelError borrowed_error(const std::vector<PlannedFold>& folds, const std::vector<StatisticalModel>& models,
                          const std::vector<bool>& knows, std::size_t borrower) {
  std::vector<double> ratios;
  std::vector<double> speeds;
  std::vector<double> noises;
  for (std::size_t f = 0; f < folds.size(); ++f) {
    if (!knows[f] || folds[f].campaign == folds[borrower].campaign) continue;
    const double deviation = run_deviation(folds[f]);
    if (deviation <= 0.0) continue;
    ratios.push_back(models[f].model_error.final_accuracy / deviation);
    speeds.push_back(models[f].model_error.speed);
    noises.push_back(models[f].model_error.noise);
  }
  if (ratios.empty()) return {};
  return {*mean_of(ratios) * run_deviation(folds[borrower]), *mean_of(speeds), *mean_of(noises)};
}

}  // namespace

const char* name_of(LeftOut left_out) {
  switch (left_out) {
    case LeftOut::runs:
      return "runs";
    case LeftOut::campaigns:
      return "campaigns";
    default:
      return "policies";
  }
}

std::vector<PlannedFold> plan_folds(const std::vector<Campaign>& campaigns, std::vector<std::string>& notes) {
  std::vector<PlannedFold> planned;
  for (const Campaign& campaign : campaigns) plan_policies(campaign, planned, notes);
  for (const Campaign& campaign : campaigns) plan_runs(campaign, planned);
  plan_campaigns(campaigns, planned);
  for (PlannedFold& fold : planned)
    for (const Campaign& campaign : campaigns)
      if (campaign.name != fold.campaign && campaign.name != fold.from)
        fold.others.push_back(campaign.groups);
  return planned;
}

std::vector<FoldFiles> fit_folds(const std::vector<PlannedFold>& folds, const FoldFits& how,
                                 const std::function<void(double, const std::string&)>& on_progress) {
  std::vector<FoldFiles> files(folds.size());
  std::vector<StatisticalModel> models(folds.size());
  std::vector<bool> knows(folds.size());
  const auto fit = [&](std::size_t i) {
    const FoldFit one = fit_fold(folds[i], how);
    return (one.knows_error ? "1" : "0") + statistical_model_json(one.model);
  };
  std::size_t finished = 0;
  run_in_processes(folds.size(), how.jobs, fit, [&](std::size_t i, const TaskOutcome& outcome) {
    if (outcome.status == TaskStatus::user_error) throw UserError(outcome.output);
    if (outcome.status != TaskStatus::done)
      throw SimulationFailed(fmt::format("the fit of {} failed: {}", folds[i].name, outcome.output));
    files[i] = {how.folder / (file_name_of(folds[i].name) + ".json"), how.folder / ensemble_file(folds[i])};
    write_file_atomically(files[i].ensemble, outcome.output.substr(1));
    models[i] = read_statistical_model(files[i].ensemble);
    knows[i] = outcome.output.front() == '1';
    StatisticalModel alone = models[i];
    alone.members.clear();
    alone.model_error = {};
    write_file_atomically(files[i].fit, statistical_model_json(alone));
    on_progress(static_cast<double>(++finished) / static_cast<double>(folds.size()), "fits");
  });
  for (std::size_t i = 0; i < folds.size(); ++i) {
    if (knows[i]) continue;
    models[i].model_error = borrowed_error(folds, models, knows, i);
    write_file_atomically(files[i].ensemble, statistical_model_json(models[i]));
  }
  return files;
}

}  // namespace paceline

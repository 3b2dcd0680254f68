#include "calibrate/validation/folds.hpp"

#include <algorithm>
#include <cmath>
#include <map>
#include <optional>
#include <set>
#include <span>
#include <utility>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "calibrate/learning/ensemble.hpp"
#include "calibrate/learning/fit_report.hpp"
#include "calibrate/learning/recorded_costs.hpp"
#include "calibrate/validation/borrowed_error.hpp"
#include "calibrate/validation/recorded_scenario.hpp"
#include "sim/base/atomic_file.hpp"
#include "sim/base/diagnostic.hpp"
#include "sim/base/random.hpp"
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
constexpr std::size_t most_draws = 10;  // of policies, for each campaign
constexpr std::uint32_t draw_seed = 7;

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

// Of an earlier validation of these folds; nothing where it has no such file. What is unknown about it is
// told from its members again.
std::optional<StatisticalModel> known_fit(const PlannedFold& fold, const FoldFits& how) {
  const fs::path file = how.known / ensemble_file(fold);
  if (how.known.empty() || !fs::exists(file)) return std::nullopt;
  StatisticalModel model = read_statistical_model(file);
  std::vector<std::string> groups;
  for (const TracedGroup& group : fold.fitted) groups.push_back(group.group.name);
  if (model.fitted_on != groups)
    throw UserError(fmt::format("{} was fitted to other runs than those of this folder", file.string()),
                    "leave --learners out");
  model.model_error =
      error_unseen({{model.form, model.values, 0.0}, model.spread, model.noise}, fold.fitted, model.members);
  return model;
}

StatisticalModel fit_fold(const PlannedFold& fold, const FoldFits& how) {
  if (std::optional<StatisticalModel> known = known_fit(fold, how)) return std::move(*known);
  const FittedLearner learner = fit_learner(*how.form, fold.fitted, {});
  StatisticalModel model = model_of(learner, fold.fitted, fold.name);
  model.command = "paceline validate recorded";
  const Ensemble ensemble = fit_ensemble(learner, fold.fitted, how.members, {});
  model.members = ensemble.members;
  model.model_error = ensemble.error;
  return model;
}

bool shows_both_protocols(std::span<const TracedGroup> groups) {
  std::set<bool> protocols;
  for (const TracedGroup& group : groups)
    for (const PlanPhase& phase : group.group.plan().phases) protocols.insert(phase.synchronous);
  return protocols.size() == 2;
}

std::size_t policy_count(std::span<const TracedGroup> groups) {
  std::set<std::string> policies;
  for (const TracedGroup& group : groups) policies.insert(policy_of(group.group.name));
  return policies.size();
}

// Fits of a campaign on so many of its policies: a few of those there are, drawn without replacement.
void plan_draws(const Campaign& campaign, std::size_t count, std::vector<PlannedFold>& draws) {
  const std::set<std::string> known = policies_of(campaign.groups);
  const std::vector<std::string> policies(known.begin(), known.end());
  if (policies.size() <= count) return;
  std::vector<std::vector<std::string>> sets;
  std::vector<bool> is_in(policies.size());
  std::fill_n(is_in.begin(), count, true);
  do {
    sets.emplace_back();
    for (std::size_t p = 0; p < policies.size(); ++p)
      if (is_in[p]) sets.back().push_back(policies[p]);
  } while (std::prev_permutation(is_in.begin(), is_in.end()));
  RandomStream random({draw_seed, static_cast<std::uint32_t>(count)}, Purpose::bootstrap);
  std::size_t drawn = 0;
  for (std::size_t left = sets.size(); left > 0 && drawn < most_draws; --left) {
    std::swap(sets[random.below(left)], sets[left - 1]);
    const std::vector<std::string>& in = sets[left - 1];
    PlannedFold fold = split(
        campaign, fmt::format("{}: from {} alone", campaign.name, fmt::join(in, ", ")), LeftOut::policies,
        [&](const std::string& policy) { return std::ranges::find(in, policy) != in.end(); });
    if (!shows_both_protocols(fold.fitted)) continue;
    draws.push_back(std::move(fold));
    ++drawn;
  }
}

// The ensembles, each made by a process of its own.
std::vector<StatisticalModel> fit_all(const std::vector<PlannedFold>& folds, const FoldFits& how,
                                      const std::string& part,
                                      const std::function<void(double, const std::string&)>& on_progress) {
  std::vector<StatisticalModel> fitted(folds.size());
  const auto fit = [&](std::size_t i) { return statistical_model_json(fit_fold(folds[i], how)); };
  std::size_t finished = 0;
  run_in_processes(folds.size(), how.jobs, fit, [&](std::size_t i, const TaskOutcome& outcome) {
    if (outcome.status == TaskStatus::user_error) throw UserError(outcome.output);
    if (outcome.status != TaskStatus::done)
      throw SimulationFailed(fmt::format("the fit of {} failed: {}", folds[i].name, outcome.output));
    const fs::path file = how.folder / ensemble_file(folds[i]);
    write_file_atomically(file, outcome.output);
    fitted[i] = read_statistical_model(file);
    on_progress(static_cast<double>(++finished) / static_cast<double>(folds.size()), part);
  });
  return fitted;
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

std::vector<FoldFiles> fit_folds(const std::vector<Campaign>& campaigns,
                                 const std::vector<PlannedFold>& folds, const FoldFits& how,
                                 const std::function<void(double, const std::string&)>& on_progress,
                                 std::vector<std::string>& notes) {
  std::vector<StatisticalModel> fitted = fit_all(folds, how, "fits", on_progress);
  std::set<std::size_t> counts;
  for (std::size_t i = 0; i < folds.size(); ++i)
    if (!fitted[i].model_error) counts.insert(policy_count(folds[i].fitted));
  std::vector<PlannedFold> draws;
  for (const std::size_t count : counts)
    for (const Campaign& campaign : campaigns) plan_draws(campaign, count, draws);
  const std::vector<StatisticalModel> of_draws = fit_all(draws, how, "fits to few policies", on_progress);
  std::vector<FoldFiles> files;
  for (std::size_t i = 0; i < folds.size(); ++i) {
    StatisticalModel& model = fitted[i];
    files.push_back(
        {how.folder / (file_name_of(folds[i].name) + ".json"), how.folder / ensemble_file(folds[i])});
    StatisticalModel alone = model;
    alone.members.clear();
    alone.model_error.reset();
    write_file_atomically(files[i].fit, statistical_model_json(alone));
    if (model.model_error) continue;
    std::vector<FewPoliciesFit> as_few;
    for (std::size_t d = 0; d < draws.size(); ++d)
      if (draws[d].campaign != folds[i].campaign && draws[d].campaign != folds[i].from &&
          policy_count(draws[d].fitted) == policy_count(folds[i].fitted))
        as_few.push_back({draws[d].campaign, draws[d].fitted, draws[d].held_out, &of_draws[d]});
    model.model_error = borrowed_error(as_few, std::sqrt(pooled_run_variance(folds[i].fitted)));
    if (!model.model_error)
      notes.push_back(
          fmt::format("{}: too few policies tell its error on others, and no other campaign can "
                      "lend one: its ranges leave it out",
                      folds[i].name));
    write_file_atomically(files[i].ensemble, statistical_model_json(model));
  }
  return files;
}

}  // namespace paceline

#include "sim/study/findings.hpp"

#include <algorithm>
#include <iterator>
#include <map>
#include <set>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "sim/base/diagnostic.hpp"
#include "sim/base/json.hpp"
#include "sim/base/order_statistics.hpp"
#include "sim/report/output/read_results.hpp"
#include "sim/report/output/staged_folder.hpp"
#include "sim/study/study_results.hpp"

namespace paceline {
namespace {

namespace fs = std::filesystem;

// A combination by its name, or by what it chooses, which is then one of every case.
bool is_called(const Findings& found, std::size_t index, const std::string& name) {
  return found.table.runs[index].name == name || found.choice(index) == name;
}

void refuse_unknown(const Findings& found, const std::string& name) {
  std::vector<std::string> names;
  for (std::size_t i = 0; i < found.table.runs.size(); ++i) {
    if (is_called(found, i, name)) return;
    names.push_back(found.table.runs[i].name);
    names.push_back(found.choice(i));
  }
  const std::optional<std::string> likely = closest(name, names);
  throw UserError(
      fmt::format("no combination has the name `{}`", name),
      likely ? fmt::format("did you mean `{}`?", *likely) : "paceline study FILE --list names them");
}

std::vector<Case> cases_of(const Findings& found, const std::string& against) {
  std::vector<std::pair<std::string, std::vector<std::size_t>>> groups;
  for (std::size_t i = 0; i < found.table.runs.size(); ++i) {
    const std::string& at = found.table.runs[i].conditions;
    auto group = std::ranges::find(groups, at, [](const auto& each) { return each.first; });
    if (group == groups.end()) group = groups.insert(groups.end(), {at, {}});
    group->second.push_back(i);
  }
  if (!against.empty()) refuse_unknown(found, against);
  std::vector<Case> cases;
  for (const auto& [at, members] : groups) {
    std::vector<ComparedRuns> runs;
    for (const std::size_t i : members) runs.push_back(found.table.runs[i]);
    Case& one = cases.emplace_back(Case{at, rank(runs)});
    for (Ranked& ranked : one.ranked) ranked.index = members[ranked.index];
    const auto named =
        std::ranges::find_if(members, [&](std::size_t i) { return is_called(found, i, against); });
    one.reference = named != members.end() ? *named : one.ranked.front().index;
  }
  return cases;
}

// Policies that were only ever run at one and the same rate: whoever wins may owe it to the rate.
std::vector<std::string> warnings_about(const Findings& found) {
  using RateAndMomentum = std::pair<double, double>;
  std::map<std::string, std::set<RateAndMomentum>> tried;
  std::set<std::optional<double>> targets;
  for (const std::size_t p : found.point_of) {
    const PlannedPoint& point = found.study.points[p];
    if (point.learns) tried[point.policy].insert({point.learning_rate, point.momentum});
    targets.insert(point.target_accuracy);
  }
  std::map<RateAndMomentum, std::vector<std::string>> untuned;
  for (const auto& [policy, rates] : tried)
    if (rates.size() == 1) untuned[*rates.begin()].push_back(policy);
  std::vector<std::string> warnings;
  for (const auto& [rate, policies] : untuned)
    if (policies.size() > 1)
      warnings.push_back(
          fmt::format("{} ran with a single learning rate ({:g}) and momentum ({:g}), which may suit one of "
                      "them better than "
                      "another; vary job.optimizer.learning_rate as well before naming a winner",
                      fmt::join(policies, "; "), rate.first, rate.second));
  if (targets.size() > 1)
    warnings.emplace_back(
        "the combinations have different targets, so their times are not comparable; ranks, Pareto front and "
        "sensitivity ignore this");
  return warnings;
}

// What follows from the table and the plan.
void conclude(Findings& found, const std::string& against) {
  for (const ComparedRuns& runs : found.table.runs) {
    found.assumed.count(runs.has_assumed_learner);
    add_validity(runs, found.validity);
  }
  found.cases = cases_of(found, against);
  found.effects = sensitivities(found.table);
  const auto is_chosen = [&](const std::string& column) { return !found.study.is_condition(column); };
  found.winners = winners_along(found.table, *std::ranges::find_if(found.table.columns, is_chosen));
}

Findings study_findings(const fs::path& folder, const std::string& against) {
  RunStore store(folder / store_file, StoreAccess::read);
  const std::optional<PlannedStudy> study = store.plan();
  if (!study) throw UserError(fmt::format("{} holds no study", folder.string()), "");
  Findings found;
  found.study = *study;
  found.counts = store.counts();
  found.table.columns = study->columns;
  found.table.runs = compared_runs(*study, store, &found.point_of);
  if (found.table.runs.empty())
    throw UserError(fmt::format("no run of {} is done", folder.string()),
                    fmt::format("run it: {}", study->command));
  for (const std::size_t point : found.point_of) found.table.labels.push_back(study->points[point].labels);
  conclude(found, against);
  found.warnings = warnings_about(found);
  for (const std::string& column : columns_without_effect(*study, store))
    found.warnings.push_back(no_effect_text(column));
  found.failures = failures(*study, store);
  return found;
}

Findings run_findings(const fs::path& folder, const std::string& against) {
  const nlohmann::json manifest = manifest_in(folder);
  Findings found;
  found.table.columns = {"variant"};
  found.table.runs = {read_compared_runs(folder)};
  const ComparedRuns& runs = found.table.runs.front();
  found.table.labels = {{runs.name}};
  found.study.name = runs.name;
  found.study.question = string_in(manifest, "question");
  found.study.command = string_in(manifest, "command");
  found.study.columns = found.table.columns;
  found.counts.planned =
      std::max<std::size_t>(manifest.value("replications", runs.runs.size()), runs.runs.size());
  found.counts.done = runs.runs.size();
  found.counts.failed = found.counts.planned - found.counts.done;
  found.failures = manifest.value("failures", std::vector<std::string>{});
  conclude(found, against);
  return found;
}

// "10", or "7 of 10: 2 diverged, 1 never reached".
std::string runs_text(const ComparedRuns& runs) {
  const Outcomes outcomes = count_outcomes(runs.runs);
  const std::string shortfall = outcomes.shortfall(runs.target_accuracy.has_value());
  if (shortfall.empty()) return fmt::format("{}", outcomes.runs);
  const int well = runs.target_accuracy ? outcomes.reached : outcomes.done;
  return fmt::format("{} of {}: {}", well, outcomes.runs, shortfall);
}

double median_of(const ComparedRuns& runs, double (*value)(const RunSummary&)) {
  std::vector<double> values;
  for (const RunSummary& run : runs.runs) values.push_back(value(run));
  return median(std::move(values));
}

// What an update is, and how many there were: a controller whose batches grow may make another job of it.
std::vector<std::string> work_texts(const ComparedRuns& runs) {
  const double updates =
      median_of(runs, [](const RunSummary& run) { return static_cast<double>(run.updates); });
  const double samples = median_of(runs, [](const RunSummary& run) {
    return run.updates == 0 ? 0.0 : static_cast<double>(run.samples) / static_cast<double>(run.updates);
  });
  const double growth = median_of(runs, [](const RunSummary& run) { return run.mean_batch_growth; });
  return {fmt::format("{:.0f}", updates), fmt::format("{:.4g}", samples), fmt::format("{:.2f}", growth)};
}

}  // namespace

std::string Findings::name_in_case(std::size_t index) const {
  return cases.size() == 1 ? name(index)
                           : assumed.marked(choice(index), table.runs[index].has_assumed_learner);
}

Findings findings_in(const fs::path& folder, const std::string& against) {
  std::error_code ignored;
  if (!fs::is_directory(folder, ignored))
    throw UserError(fmt::format("{} is not a folder", folder.string()),
                    "name a folder written by `paceline run` or `paceline study`");
  if (fs::exists(folder / store_file, ignored)) return study_findings(folder, against);
  if (string_in(manifest_in(folder), "format") == "paceline-results") return run_findings(folder, against);
  throw UserError(fmt::format("{} holds no {}", folder.string(), store_file),
                  "name the folder of a study; parts are put together by `paceline study merge`");
}

std::optional<std::size_t> winner_of(const Case& one) {
  const std::vector<std::size_t> first = one.first();
  return first.size() == 1 && one.ranked.front().time ? std::optional(first.front()) : std::nullopt;
}

std::string verdict(const Findings& found, const Case& one) {
  const std::vector<std::size_t> first = one.first();
  const auto name = [&](std::size_t index) { return printable(found.name_in_case(index)); };
  if (!one.ranked.front().time)
    return fmt::format("no variant gets there: {} {}", name(first.front()),
                       time_or_outcome(found.table.runs[first.front()], {}));
  if (one.ranked.size() == 1) return fmt::format("{} alone", name(first.front()));
  if (first.size() == 1)
    return fmt::format("{} wins, then {}", name(first.front()), name(one.ranked[1].index));
  std::vector<std::string> names;
  for (const std::size_t index : first) names.push_back(name(index));
  return fmt::format("{}: these runs do not tell them apart", fmt::join(names, " = "));
}

std::optional<std::string> winner_everywhere(const Findings& found) {
  std::set<std::string> choices;
  for (const Case& one : found.cases) {
    const std::optional<std::size_t> winner = winner_of(one);
    choices.insert(winner ? found.choice(*winner) : "");
  }
  if (choices.size() > 1 || choices.begin()->empty()) return std::nullopt;
  return *choices.begin();
}

std::string missing_text(const RunCounts& counts) {
  if (counts.done >= counts.planned) return {};
  return fmt::format("{} of {} runs are not done", counts.planned - counts.done, counts.planned);
}

TextRows ranking_rows(const Findings& found, const Case& one, std::size_t lines) {
  TextRows rows{{"ranking", "rank", "time", "final accuracy", "runs", "P(faster than the one above) [90 %]"}};
  // Jobs that stop at a target have no front.
  const bool has_front = std::ranges::any_of(one.ranked, &Ranked::is_on_front);
  if (has_front) rows.front().emplace_back("Pareto");
  for (const char* of_work : {"updates", "samples/update", "batch growth"})
    rows.front().emplace_back(of_work);
  const bool has_prices = std::ranges::any_of(
      found.table.runs, [](const ComparedRuns& runs) { return runs.price_per_hour.has_value(); });
  if (has_prices) rows.front().emplace_back("cost");
  for (const Ranked& ranked : one.ranked) {
    if (rows.size() > lines) break;
    const ComparedRuns& runs = found.table.runs[ranked.index];
    rows.push_back({found.name_in_case(ranked.index),
                    fmt::format("{}{}", ranked.rank, ranked.is_tied ? "=" : ""),
                    time_or_outcome(runs, ranked.time), or_dash("{:.4f}", ranked.accuracy), runs_text(runs),
                    ranked.against_leader ? faster_text(*ranked.against_leader) : "-"});
    if (has_front) rows.back().emplace_back(ranked.is_on_front ? "*" : "");
    std::ranges::move(work_texts(runs), std::back_inserter(rows.back()));
    if (has_prices) rows.back().push_back(or_dash("{:.4g}", cost_of(runs, ranked.time)));
  }
  return rows;
}

std::vector<std::string> pair_cells(const std::optional<PairedComparison>& paired) {
  std::vector<std::string> cells{"-", "-", "-", "0"};
  if (!paired) return cells;
  if (const auto& difference = paired->difference)
    cells[0] = fmt::format("{} [{}, {}]", format_difference(difference->mean_s),
                           format_difference(difference->interval_s.low),
                           format_difference(difference->interval_s.high));
  if (const auto& speedup = paired->speedup_interval)
    cells[1] = fmt::format("{:.3f}x [{:.3f}, {:.3f}]", *paired->speedup, speedup->low, speedup->high);
  cells[2] = faster_text(*paired);
  cells[3] = fmt::format("{}", paired->pairs);
  return cells;
}

TextRows paired_rows(const Findings& found, const Case& one, std::size_t lines) {
  const ComparedRuns& first = found.table.runs[one.reference];
  TextRows rows{{fmt::format("against {}", found.name_in_case(one.reference)), "difference [90 %]",
                 "speed-up [90 %]", "P(faster) [90 %]", "pairs", "correlation"}};
  for (const Ranked& ranked : one.ranked) {
    if (ranked.index == one.reference || rows.size() > lines) continue;
    const std::optional<PairedComparison> paired = compare_pairs(first, found.table.runs[ranked.index]);
    rows.push_back({found.name_in_case(ranked.index)});
    std::ranges::move(pair_cells(paired), std::back_inserter(rows.back()));
    rows.back().push_back(paired ? or_dash("{:.2f}", paired->correlation) : "-");
  }
  return rows;
}

TextRows sensitivity_rows(const std::vector<Sensitivity>& all) {
  TextRows rows{{"sensitivity of the time", "alone, slowest/fastest", "total effect"}};
  for (const Sensitivity& one : all)
    rows.push_back({one.column, or_dash("{:.3g}x", one.alone), or_dash("{:.2f}", one.total_effect)});
  return rows;
}

}  // namespace paceline

// compare: what the runs of a study say about its combinations.
#include <algorithm>
#include <cstdio>
#include <map>
#include <set>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "sim/base/diagnostic.hpp"
#include "sim/base/json.hpp"
#include "sim/cli/commands.hpp"
#include "sim/report/output/text_table.hpp"
#include "sim/report/statistics/sensitivity.hpp"
#include "sim/study/study_results.hpp"

namespace paceline {

// As `--json` prints them.
NLOHMANN_DEFINE_TYPE_NON_INTRUSIVE(Interval, low, high)
NLOHMANN_DEFINE_TYPE_NON_INTRUSIVE(PairedDifference, mean_s, interval_s)
NLOHMANN_DEFINE_TYPE_NON_INTRUSIVE(PairedComparison, pairs, p_faster, p_faster_interval, correlation, speedup,
                                   speedup_interval, difference)
NLOHMANN_DEFINE_TYPE_NON_INTRUSIVE(Sensitivity, column, alone, total_effect)
NLOHMANN_DEFINE_TYPE_NON_INTRUSIVE(Winner, at, winner, second, over_second)
NLOHMANN_DEFINE_TYPE_NON_INTRUSIVE(WinnerChange, along, between, fixed, winners)

namespace {

namespace fs = std::filesystem;

// A study as far as it has been run, and what follows from that.
struct Findings {
  PlannedStudy study;
  RunCounts counts;
  ComparedTable table;
  std::vector<std::size_t> point_of;  // by combination of the table
  AssumedLearners assumed;
  std::vector<Ranked> ranked;
  std::size_t reference = 0;  // of the table: what all others are paired with
  std::vector<Sensitivity> effects;
  std::vector<WinnerChange> winners;
  std::vector<std::string> warnings;

  [[nodiscard]] std::string name(std::size_t index) const {
    return assumed.marked(table.runs[index].name, table.runs[index].has_assumed_learner);
  }
};

std::size_t index_of(const std::string& name, const Findings& found) {
  if (name.empty()) return found.ranked.front().index;
  std::vector<std::string> names;
  for (const ComparedRuns& runs : found.table.runs) names.push_back(runs.name);
  const auto place = std::ranges::find(names, name);
  if (place != names.end()) return static_cast<std::size_t>(place - names.begin());
  const std::optional<std::string> likely = closest(name, names);
  throw UserError(
      fmt::format("no combination has the name `{}`", name),
      likely ? fmt::format("did you mean `{}`?", *likely) : "paceline study FILE --list names them");
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

Findings read_study(const CompareArguments& arguments) {
  const fs::path folder = arguments.folder;
  std::error_code ignored;
  if (!fs::exists(folder / store_file, ignored))
    throw UserError(fmt::format("{} holds no {}", folder.string(), store_file),
                    "name the folder of a study; parts are put together by `paceline study merge`");
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
  for (const std::size_t point : found.point_of) {
    found.table.labels.push_back(study->points[point].labels);
    found.assumed.count(study->points[point].has_assumed_learner);
  }
  found.ranked = rank(found.table.runs);
  found.reference = index_of(arguments.against, found);
  found.effects = sensitivities(found.table);
  found.winners = winners_along(found.table, found.table.columns.front());
  found.warnings = warnings_about(found);
  return found;
}

std::string cut_note(std::size_t shown, std::size_t all) {
  return shown < all ? fmt::format("… {} more; --lines shows them\n", all - shown) : "";
}

// "10", or "7 of 10: 2 diverged, 1 never reached".
std::string runs_text(const ComparedRuns& runs) {
  const Outcomes outcomes = count_outcomes(runs.runs);
  const std::string shortfall = outcomes.shortfall(runs.target_accuracy.has_value());
  if (shortfall.empty()) return fmt::format("{}", outcomes.runs);
  const int well = runs.target_accuracy ? outcomes.reached : outcomes.done;
  return fmt::format("{} of {}: {}", well, outcomes.runs, shortfall);
}

std::string ranking_text(const Findings& found, std::size_t lines) {
  TextRows rows{
      {"ranking", "rank", "time", "final accuracy", "runs", "P(faster than leader) [90 %]", "Pareto"}};
  for (const Ranked& one : found.ranked) {
    if (rows.size() > lines) break;
    rows.push_back({found.name(one.index), fmt::format("{}{}", one.rank, one.is_tied ? "=" : ""),
                    time_or_outcome(found.table.runs[one.index], one.time), or_dash("{:.4f}", one.accuracy),
                    runs_text(found.table.runs[one.index]),
                    one.against_leader ? faster_text(*one.against_leader) : "-", one.is_on_front ? "*" : ""});
  }
  const std::size_t shown = rows.size() - 1;
  return text_table(std::move(rows)) + cut_note(shown, found.ranked.size()) +
         "Medians over the seeds. `=`: these runs do not tell it apart from the leader of its rank (90 % "
         "interval of\n"
         "P(faster) holds 0.5). `*`: no other is both faster and as accurate.\n" +
         found.assumed.note();
}

std::string paired_text(const Findings& found, std::size_t lines) {
  const ComparedRuns& first = found.table.runs[found.reference];
  TextRows rows{{fmt::format("against {}", found.name(found.reference)), "difference [90 %]",
                 "speed-up [90 %]", "P(faster) [90 %]", "pairs", "correlation"}};
  for (const Ranked& one : found.ranked) {
    if (one.index == found.reference || rows.size() > lines) continue;
    rows.push_back({found.name(one.index), "-", "-", "-", "0", "-"});
    const std::optional<PairedComparison> paired = compare_pairs(first, found.table.runs[one.index]);
    if (!paired) continue;
    if (const auto& difference = paired->difference)
      rows.back()[1] = fmt::format("{:+.4g} s [{:+.4g}, {:+.4g}]", difference->mean_s,
                                   difference->interval_s.low, difference->interval_s.high);
    if (const auto& speedup = paired->speedup_interval)
      rows.back()[2] = fmt::format("{:.3f}x [{:.3f}, {:.3f}]", *paired->speedup, speedup->low, speedup->high);
    rows.back()[3] = faster_text(*paired);
    rows.back()[4] = fmt::format("{}", paired->pairs);
    rows.back()[5] = or_dash("{:.2f}", paired->correlation);
  }
  if (rows.size() == 1) return {};
  const std::size_t shown = rows.size() - 1;
  return fmt::format(
      "\n{}{}{}", text_table(std::move(rows)), cut_note(shown, found.ranked.size() - 1),
      "Runs paired by seed; differences and speed-ups only where every run of both reached the target.\n");
}

std::string sensitivity_text(const std::vector<Sensitivity>& all) {
  TextRows rows{{"sensitivity of the time", "alone, slowest/fastest", "total effect"}};
  for (const Sensitivity& one : all)
    rows.push_back({one.column, or_dash("{:.3g}x", one.alone), or_dash("{:.2f}", one.total_effect)});
  return fmt::format(
      "\n{}{}", text_table(std::move(rows)),
      "Alone: as the first combination, but for this. Total effect: share of the variance of ln(time) "
      "left when all\n"
      "else is known.\n");
}

std::string winner_text(const Winner& winner) {
  if (!winner.over_second) return winner.winner;
  const Interval& p = winner.over_second->p_faster_interval;
  const bool is_tie = p.low <= 0.5 && 0.5 <= p.high;
  return fmt::format("{}{} (P {})", winner.winner, is_tie ? fmt::format(" = {}", *winner.second) : "",
                     faster_text(*winner.over_second));
}

std::string winners_text(const std::vector<WinnerChange>& all, std::size_t lines) {
  if (all.empty()) return {};
  std::string text;
  std::size_t changing = 0;
  for (const WinnerChange& change : all) {
    if (!change.changes() || ++changing > lines) continue;
    text += fmt::format("  along {}{}{}:\n", change.along, change.fixed.empty() ? "" : ", at ",
                        printable(fmt::format("{}", fmt::join(change.fixed, ", "))));
    const Winner* before = nullptr;
    for (const Winner& winner : change.winners) {
      if (before == nullptr || before->winner != winner.winner)
        text +=
            printable(fmt::format("    from {} {} on: {}", change.along, winner.at, winner_text(winner))) +
            "\n";
      before = &winner;
    }
  }
  const std::string head = fmt::format("\nwho wins between the labels of `{}`: ", all.front().between);
  if (changing == 0) return head + "the same everywhere along every other column\n";
  return head + fmt::format("it changes in {} of {} comparisons\n", changing, all.size()) + text +
         cut_note(std::min(lines, changing), changing);
}

nlohmann::json to_json(const Findings& found) {
  nlohmann::json ranking = nlohmann::json::array();
  for (const Ranked& one : found.ranked) {
    const ComparedRuns& runs = found.table.runs[one.index];
    ranking.push_back({{"name", runs.name},
                       {"rank", one.rank},
                       {"tied", one.is_tied},
                       {"assumed_learner", runs.has_assumed_learner},
                       {"runs", runs.runs.size()},
                       {"time_s", one.time},
                       {"final_accuracy", one.accuracy},
                       {"pareto", one.is_on_front},
                       {"against_reference", nullptr}});
    if (one.index != found.reference)
      ranking.back()["against_reference"] = compare_pairs(found.table.runs[found.reference], runs);
  }
  return {{"study", found.study.name}, {"reference", found.table.runs[found.reference].name},
          {"ranking", ranking},        {"sensitivity", found.effects},
          {"winners", found.winners},  {"warnings", found.warnings}};
}

}  // namespace

int compare_command(const CompareArguments& arguments) {
  const Findings found = read_study(arguments);
  const auto lines = static_cast<std::size_t>(arguments.lines);
  if (arguments.json) {
    fmt::print("{}\n", to_json(found).dump(2, ' ', false, nlohmann::json::error_handler_t::replace));
  } else {
    if (!found.study.question.empty()) fmt::print("{}\n\n", printable(found.study.question));
    fmt::print("{}{}{}{}", ranking_text(found, lines), paired_text(found, lines),
               sensitivity_text(found.effects), winners_text(found.winners, lines));
  }
  for (const std::string& warning : found.warnings) fmt::print(stderr, "warning: {}\n", warning);
  if (found.counts.done < found.counts.planned)
    fmt::print(stderr, "warning: {} of {} runs are not done\n", found.counts.planned - found.counts.done,
               found.counts.planned);
  return exit_done;
}

}  // namespace paceline

// compare: what the runs of a study say about its combinations.
#include <algorithm>
#include <cstdio>
#include <iterator>
#include <map>
#include <set>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "sim/base/diagnostic.hpp"
#include "sim/base/json.hpp"
#include "sim/base/order_statistics.hpp"
#include "sim/cli/options.hpp"
#include "sim/report/output/text_table.hpp"
#include "sim/report/output/validity_table.hpp"
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

struct CompareArguments {
  std::string folder;
  std::string against;  // the combination all others are compared with; empty: the best
  int lines = 20;       // of each table
  bool json = false;
};

constexpr const char* compare_examples = R"(Examples:
  paceline compare results/mine                             ranking, Pareto front, sensitivity, winners
  paceline compare results/mine --against "BSP, level HL8"  everything paired with one combination)";

namespace fs = std::filesystem;

// Combinations that meet the same conditions, and so compete.
struct Case {
  std::string at;              // "network 10 Gbit/s, straggler none"; empty: there are no conditions
  std::vector<Ranked> ranked;  // by index into the table
  std::size_t reference = 0;   // of the table: what the others are paired with

  // Those of the first rank: one, unless these runs do not tell it apart from others.
  [[nodiscard]] std::vector<std::size_t> first() const {
    std::vector<std::size_t> indices;
    for (const Ranked& one : ranked)
      if (one.rank == 1) indices.push_back(one.index);
    return indices;
  }
};

// A study as far as it has been run, and what follows from that.
struct Findings {
  PlannedStudy study;
  RunCounts counts;
  ComparedTable table;
  std::vector<std::size_t> point_of;  // by combination of the table
  AssumedLearners assumed;
  std::vector<Case> cases;
  ValidityTable validity;
  std::vector<Sensitivity> effects;
  std::vector<WinnerChange> winners;
  std::vector<std::string> warnings;

  [[nodiscard]] std::string name(std::size_t index) const {
    return assumed.marked(table.runs[index].name, table.runs[index].has_assumed_learner);
  }
};

std::size_t index_of(const std::string& name, const ComparedTable& table) {
  std::vector<std::string> names;
  for (const ComparedRuns& runs : table.runs) names.push_back(runs.name);
  const auto place = std::ranges::find(names, name);
  if (place != names.end()) return static_cast<std::size_t>(place - names.begin());
  const std::optional<std::string> likely = closest(name, names);
  throw UserError(
      fmt::format("no combination has the name `{}`", name),
      likely ? fmt::format("did you mean `{}`?", *likely) : "paceline study FILE --list names them");
}

bool is_condition(const Findings& found, std::size_t column) {
  const std::vector<std::string>& conditions = found.study.conditions;
  // Where nothing is chosen, all combinations compete.
  return conditions.size() < found.table.columns.size() &&
         std::ranges::count(conditions, found.table.columns[column]) > 0;
}

// "network 10 Gbit/s, straggler none", of the columns that are conditions or of the others.
std::string labels_text(const Findings& found, std::size_t index, bool of_conditions) {
  std::string text;
  for (std::size_t c = 0; c < found.table.columns.size(); ++c)
    if (is_condition(found, c) == of_conditions)
      text += fmt::format("{}{} {}", text.empty() ? "" : ", ", found.table.columns[c],
                          found.table.labels[index][c]);
  return text;
}

std::vector<Case> cases_of(const Findings& found, const std::string& against) {
  std::vector<std::pair<std::string, std::vector<std::size_t>>> groups;
  for (std::size_t i = 0; i < found.table.runs.size(); ++i) {
    const std::string at = labels_text(found, i, true);
    auto group = std::ranges::find(groups, at, [](const auto& each) { return each.first; });
    if (group == groups.end()) group = groups.insert(groups.end(), {at, {}});
    group->second.push_back(i);
  }
  const std::size_t nobody = found.table.runs.size();
  const std::size_t named = against.empty() ? nobody : index_of(against, found.table);
  std::vector<Case> cases;
  for (const auto& [at, members] : groups) {
    std::vector<ComparedRuns> runs;
    for (const std::size_t i : members) runs.push_back(found.table.runs[i]);
    Case& one = cases.emplace_back(Case{at, rank(runs)});
    for (Ranked& ranked : one.ranked) ranked.index = members[ranked.index];
    one.reference = std::ranges::count(members, named) > 0 ? named : one.ranked.front().index;
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
  for (const ComparedRuns& runs : found.table.runs) found.validity.add(runs.validity, runs.runs.size());
  found.cases = cases_of(found, arguments.against);
  found.effects = sensitivities(found.table);
  std::size_t chosen = 0;
  while (is_condition(found, chosen)) ++chosen;
  found.winners = winners_along(found.table, found.table.columns[chosen]);
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

// "BSP wins, then ASP", or who cannot be told apart.
std::string verdict(const Findings& found, const Case& one) {
  const std::vector<std::size_t> first = one.first();
  const auto name = [&](std::size_t index) { return printable(found.name(index)); };
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

std::string case_text(const Findings& found, const Case& one, std::size_t lines) {
  TextRows rows{{"ranking", "rank", "time", "final accuracy", "runs", "P(faster than leader) [90 %]",
                 "Pareto", "updates", "samples/update", "batch growth"}};
  for (const Ranked& ranked : one.ranked) {
    if (rows.size() > lines) break;
    const ComparedRuns& runs = found.table.runs[ranked.index];
    rows.push_back({found.name(ranked.index), fmt::format("{}{}", ranked.rank, ranked.is_tied ? "=" : ""),
                    time_or_outcome(runs, ranked.time), or_dash("{:.4f}", ranked.accuracy), runs_text(runs),
                    ranked.against_leader ? faster_text(*ranked.against_leader) : "-",
                    ranked.is_on_front ? "*" : ""});
    std::ranges::move(work_texts(runs), std::back_inserter(rows.back()));
  }
  const std::size_t shown = rows.size() - 1;
  const std::string at = one.at.empty() ? "" : fmt::format("at {}:\n", printable(one.at));
  return at + text_table(std::move(rows)) + cut_note(shown, one.ranked.size());
}

std::string paired_text(const Findings& found, const Case& one, std::size_t lines) {
  const ComparedRuns& first = found.table.runs[one.reference];
  TextRows rows{{fmt::format("against {}", found.name(one.reference)), "difference [90 %]", "speed-up [90 %]",
                 "P(faster) [90 %]", "pairs", "correlation"}};
  for (const Ranked& ranked : one.ranked) {
    if (ranked.index == one.reference || rows.size() > lines) continue;
    rows.push_back({found.name(ranked.index), "-", "-", "-", "0", "-"});
    const std::optional<PairedComparison> paired = compare_pairs(first, found.table.runs[ranked.index]);
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
  return fmt::format("\n{}{}", text_table(std::move(rows)), cut_note(shown, one.ranked.size() - 1));
}

// Who wins in each case, and whether it is the same choice everywhere.
std::string verdicts_text(const Findings& found, std::size_t lines) {
  if (found.cases.size() == 1) return fmt::format("{}\n\n", verdict(found, found.cases.front()));
  std::string text;
  std::set<std::string> choices;
  for (std::size_t i = 0; i < found.cases.size(); ++i) {
    const Case& one = found.cases[i];
    const std::vector<std::size_t> first = one.first();
    const bool has_winner = first.size() == 1 && one.ranked.front().time;
    choices.insert(has_winner ? labels_text(found, first.front(), false) : "");
    if (i < lines) text += fmt::format("{}: {}\n", printable(one.at), verdict(found, one));
  }
  text += cut_note(std::min(lines, found.cases.size()), found.cases.size());
  if (choices.size() == 1 && !choices.begin()->empty())
    text += fmt::format("The same everywhere: {} wins.\n", printable(*choices.begin()));
  else
    text += "It is not the same everywhere, or not told apart by these runs.\n";
  return text + "\n";
}

// The tables of as many cases as the lines allow, at least one.
std::string cases_text(const Findings& found, std::size_t lines) {
  std::string text = verdicts_text(found, lines);
  std::size_t shown = 0;
  std::size_t rows = 0;
  for (const Case& one : found.cases) {
    if (shown > 0 && rows + one.ranked.size() > lines) break;
    text += fmt::format("{}{}{}", shown > 0 ? "\n" : "", case_text(found, one, lines),
                        paired_text(found, one, lines));
    rows += one.ranked.size();
    ++shown;
  }
  text += cut_note(shown, found.cases.size());
  return text +
         fmt::format(
             "\nMedians over the seeds. `=`: these runs do not tell it apart from the leader of its rank (90 "
             "% "
             "interval of\nP(faster), Jeffreys, reaches 0.5). `*`: no other is both faster and as accurate.\n"
             "Runs paired by seed; differences and speed-ups only where every run of both reached the "
             "target, "
             "from five\npairs on. Batch growth: mean total batch over that at the start.\n{}",
             found.assumed.note());
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
  if (changing == 0) {
    std::set<std::string> winners;
    for (const WinnerChange& change : all)
      for (const Winner& winner : change.winners) winners.insert(winner.winner);
    return head + (winners.size() == 1 ? fmt::format("{} everywhere\n", printable(*winners.begin()))
                                       : "along no other column it changes\n");
  }
  return head + fmt::format("it changes in {} of {} comparisons\n", changing, all.size()) + text +
         cut_note(std::min(lines, changing), changing);
}

void add_ranking(const Findings& found, const Case& one, nlohmann::json& ranking) {
  for (const Ranked& ranked : one.ranked) {
    const ComparedRuns& runs = found.table.runs[ranked.index];
    const Outcomes outcomes = count_outcomes(runs.runs);
    ranking.push_back({{"at", one.at},
                       {"name", runs.name},
                       {"rank", ranked.rank},
                       {"tied", ranked.is_tied},
                       {"assumed_learner", runs.has_assumed_learner},
                       {"runs", runs.runs.size()},
                       {"outcome", outcomes.word(runs.target_accuracy.has_value())},
                       {"reached", outcomes.reached},
                       {"diverged", outcomes.diverged},
                       {"stalled", outcomes.stalled},
                       {"time_s", ranked.time},
                       {"final_accuracy", ranked.accuracy},
                       {"pareto", ranked.is_on_front},
                       {"against_reference", nullptr}});
    if (ranked.index != one.reference)
      ranking.back()["against_reference"] = compare_pairs(found.table.runs[one.reference], runs);
  }
}

nlohmann::json to_json(const Findings& found) {
  nlohmann::json cases = nlohmann::json::array();
  nlohmann::json ranking = nlohmann::json::array();
  for (const Case& one : found.cases) {
    const std::vector<std::size_t> first = one.first();
    const bool has_winner = first.size() == 1 && one.ranked.front().time;
    cases.push_back({{"at", one.at},
                     {"winner", has_winner ? nlohmann::json(found.table.runs[first.front()].name) : nullptr},
                     {"reference", found.table.runs[one.reference].name}});
    add_ranking(found, one, ranking);
  }
  return {{"study", found.study.name},
          {"conditions", found.study.conditions},
          {"cases", cases},
          {"ranking", ranking},
          {"sensitivity", found.effects},
          {"winners", found.winners},
          {"validity", nlohmann::json::parse(found.validity.json().dump())},
          {"warnings", found.warnings}};
}

int compare_command(const CompareArguments& arguments) {
  const Findings found = read_study(arguments);
  const auto lines = static_cast<std::size_t>(arguments.lines);
  if (arguments.json) {
    fmt::print("{}\n", to_json(found).dump(2, ' ', false, nlohmann::json::error_handler_t::replace));
  } else {
    if (!found.study.question.empty()) fmt::print("{}\n\n", printable(found.study.question));
    fmt::print("{}{}{}", cases_text(found, lines), sensitivity_text(found.effects),
               winners_text(found.winners, lines));
    if (const std::string section = found.validity.text(); !section.empty()) fmt::print("\n{}", section);
  }
  for (const std::string& warning : found.warnings) fmt::print(stderr, "warning: {}\n", warning);
  if (found.counts.done < found.counts.planned)
    fmt::print(stderr, "warning: {} of {} runs are not done\n", found.counts.planned - found.counts.done,
               found.counts.planned);
  return exit_done;
}

}  // namespace

void add_compare(CLI::App& app, CommandAction& action) {
  auto [compare, arguments] = add_command<CompareArguments>(
      app, "compare", "compare the combinations of a study, pair by pair", compare_command, action);
  compare.footer(compare_examples);
  compare.add_option("DIR", arguments.folder, "folder of a study")->required();
  compare.add_option("--against", arguments.against, "combination to compare with (default: the best)")
      ->type_name("NAME");
  add_number(compare, "--lines", arguments.lines, "of each table", 1, 1'000'000);
  compare.add_flag("--json", arguments.json, "print for machines");
}

}  // namespace paceline

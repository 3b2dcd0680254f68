// compare: what the runs of a study say about its combinations.
#include <algorithm>
#include <cstdio>
#include <functional>
#include <set>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "sim/base/diagnostic.hpp"
#include "sim/base/json.hpp"
#include "sim/base/number_text.hpp"
#include "sim/cli/options.hpp"
#include "sim/description/units.hpp"
#include "sim/report/output/text_table.hpp"
#include "sim/study/findings.hpp"

namespace paceline {

// As `--json` prints them.
NLOHMANN_DEFINE_TYPE_NON_INTRUSIVE(Interval, low, high)
NLOHMANN_DEFINE_TYPE_NON_INTRUSIVE(PairedDifference, mean_s, interval_s)
void to_json(nlohmann::json& json, const PairedComparison& paired) {
  json = {{"pairs", paired.pairs},
          {"p_faster", paired.p_faster.value},
          {"p_faster_interval", paired.p_faster.interval},
          {"correlation", paired.correlation},
          {"speedup", paired.speedup},
          {"speedup_interval", paired.speedup_interval},
          {"difference", paired.difference}};
}
NLOHMANN_DEFINE_TYPE_NON_INTRUSIVE(Sensitivity, column, alone, total_effect)
void to_json(nlohmann::json& json, const Winner& winner) {
  json = {{"at", winner.at},
          {"winner", winner.winner},
          {"second", winner.second},
          {"over_second", winner.over_second}};
}
void to_json(nlohmann::json& json, const WinnerChange& change) {
  json = {{"along", change.along},
          {"between", change.between},
          {"fixed", change.fixed},
          {"winners", change.winners}};
}

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

std::string cut_note(std::size_t shown, std::size_t all) {
  return shown < all ? fmt::format("… {} more; --lines shows them\n", all - shown) : "";
}

std::string case_text(const Findings& found, const Case& one, std::size_t lines) {
  const std::string at = one.at.empty() ? "" : fmt::format("at {}:\n", printable(one.at));
  return at + text_table(ranking_rows(found, one, lines)) +
         cut_note(std::min(lines, one.ranked.size()), one.ranked.size());
}

std::string paired_text(const Findings& found, const Case& one, std::size_t lines) {
  TextRows rows = paired_rows(found, one, lines);
  if (rows.size() == 1) return {};
  const std::size_t shown = rows.size() - 1;
  return fmt::format("\n{}{}", text_table(std::move(rows)), cut_note(shown, one.ranked.size() - 1));
}

// Who wins in each case, and whether it is the same choice everywhere.
std::string verdicts_text(const Findings& found, std::size_t lines) {
  if (found.cases.size() == 1) return fmt::format("{}\n\n", verdict(found, found.cases.front()));
  std::string text;
  for (std::size_t i = 0; i < std::min(lines, found.cases.size()); ++i)
    text += fmt::format("{}: {}\n", printable(found.cases[i].at), verdict(found, found.cases[i]));
  text += cut_note(std::min(lines, found.cases.size()), found.cases.size());
  if (const std::optional<std::string> winner = winner_everywhere(found))
    text += fmt::format("The same everywhere: {} wins.\n", printable(*winner));
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
  return fmt::format("{}\n{}{}", text, ranking_note, found.assumed.note());
}

std::string sensitivity_text(const std::vector<Sensitivity>& effects) {
  return fmt::format("\n{}{}", text_table(sensitivity_rows(effects)), sensitivity_note);
}

std::string winner_text(const Winner& winner) {
  if (!winner.over_second) return winner.winner;
  const Interval& p = winner.over_second->p_faster.interval;
  const bool is_tie = p.low <= 0.5 && 0.5 <= p.high;
  return fmt::format("{}{} (P {})", winner.winner, is_tie ? fmt::format(" = {}", *winner.second) : "",
                     faster_text(*winner.over_second));
}

// Whether its labels are numbers of one unit that rise or fall: only of these one may say "from 8 on".
bool is_ordered(const std::vector<Winner>& winners) {
  std::vector<double> numbers;
  std::set<std::string> units;
  for (const Winner& winner : winners) {
    const std::optional<NumberText> label = split_number(winner.at);
    if (!label) return false;
    numbers.push_back(label->number);
    units.emplace(singular(label->unit));
  }
  return units.size() == 1 &&
         (std::ranges::is_sorted(numbers) || std::ranges::is_sorted(numbers, std::greater()));
}

std::string winners_text(const std::vector<WinnerChange>& all, std::size_t lines) {
  if (all.empty()) return {};
  std::string text;
  std::size_t changing = 0;
  for (const WinnerChange& change : all) {
    if (!change.changes() || ++changing > lines) continue;
    text += fmt::format("  along {}{}{}:\n", change.along, change.fixed.empty() ? "" : ", at ",
                        printable(fmt::format("{}", fmt::join(change.fixed, ", "))));
    const bool ordered = is_ordered(change.winners);
    const Winner* before = nullptr;
    for (const Winner& winner : change.winners) {
      const bool goes_on = ordered && before != nullptr && before->winner == winner.winner;
      const std::string at =
          fmt::format("{}{} {}{}", ordered ? "from " : "", change.along, winner.at, ordered ? " on" : "");
      if (!goes_on) text += printable(fmt::format("    {}: {}", at, winner_text(winner))) + "\n";
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
                       {"cost", cost_of(runs, ranked.time)},
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
    const std::optional<std::size_t> winner = winner_of(one);
    cases.push_back({{"at", one.at},
                     {"winner", winner ? nlohmann::json(found.table.runs[*winner].name) : nullptr},
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
  const Findings found = findings_in(arguments.folder, arguments.against);
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
  if (const std::string missing = missing_text(found.counts); !missing.empty())
    fmt::print(stderr, "warning: {}\n", missing);
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

// search: find the best setting of what a study varies, and say what finding it cost.
#include <algorithm>
#include <cstdio>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "sim/base/diagnostic.hpp"
#include "sim/base/interrupt.hpp"
#include "sim/base/json.hpp"
#include "sim/cli/options.hpp"
#include "sim/cli/study.hpp"
#include "sim/report/output/text_table.hpp"
#include "sim/scenario/sweep/study_plan.hpp"
#include "sim/study/study_results.hpp"
#include "sim/study/study_search.hpp"

namespace paceline {
namespace {

constexpr const char* search_examples = R"(Examples:
  paceline search study.yaml                        as its `search` says
  paceline search study.yaml -o results/search      go on after an interruption: runs are kept)";

namespace fs = std::filesystem;
using json = nlohmann::ordered_json;

const char* objective_name(SearchObjective objective) {
  switch (objective) {
    case SearchObjective::core_hours:
      return "core-hours";
    case SearchObjective::money:
      return "money";
    case SearchObjective::time_to_accuracy:
      break;
  }
  return "mean time to it";
}

std::string score_text(const TriedSetting& tried, SearchObjective objective) {
  if (!tried.score) return "infeasible";
  if (tried.score->never_share == 1.0) return "never";
  const std::string value = objective == SearchObjective::time_to_accuracy
                                ? format_time(Seconds{tried.score->value})
                                : fmt::format("{:.4g}", tried.score->value);
  if (tried.score->never_share == 0.0) return value;
  return fmt::format("{}, never in {:.3g} % of the runs", value, 100.0 * tried.score->never_share);
}

// Who else it may be: a search always names one, also where all are the same.
std::string rivals_text(const SearchReport& report) {
  constexpr std::size_t most_named = 5;
  std::vector<std::string> rivals;
  for (const TriedSetting& tried : report.tried) {
    if (tried.name == report.best && tried.runs < least_for_interval)
      return "fewer than five runs of it: how sure that is, is not known\n";
    if (tried.is_alike && tried.name != report.best) rivals.push_back(printable(tried.name));
  }
  if (rivals.empty()) return {};
  if (rivals.size() + 1 == report.tried.size())
    return "its runs are not told apart from those of any other setting: what is tried makes no difference "
           "here\n";
  const std::size_t more = rivals.size() - std::min(rivals.size(), most_named);
  rivals.resize(rivals.size() - more);
  return fmt::format("not told apart from it by these runs: {}{}\n", fmt::join(rivals, "; "),
                     more > 0 ? fmt::format("; and {} more", more) : "");
}

void print_report(const SearchReport& report, const SearchConfig& config) {
  TextRows rows{{report.of.empty() ? "settings tried" : report.of, objective_name(config.minimize),
                 "mean final accuracy", "runs"}};
  AssumedLearners assumed;
  for (const TriedSetting& tried : report.tried) assumed.count(tried.has_assumed_learner);
  for (const TriedSetting& tried : report.tried)
    rows.push_back({assumed.marked(tried.name, tried.has_assumed_learner), score_text(tried, config.minimize),
                    or_dash("{:.4f}", tried.mean_accuracy), fmt::format("{}", tried.runs)});
  fmt::print("{}{}", text_table(std::move(rows)), assumed.note());
  fmt::print("best: {}\n{}", report.best ? printable(*report.best) : "none is feasible", rivals_text(report));
  fmt::print("cost of the search: {} settings, {} runs; on the cluster itself {} and {:.4g} core-hours\n\n",
             report.cost.settings, report.cost.runs, format_time(Seconds{report.cost.simulated_s}),
             report.cost.simulated_core_hours);
}

json to_json(const SearchReport& report) {
  json tried = json::array();
  for (const TriedSetting& one : report.tried)
    tried.push_back({{"name", one.name},
                     {"score", one.score ? json(one.score->value) : json()},
                     {"never_share", one.score ? json(one.score->never_share) : json()},
                     {"mean_final_accuracy", one.mean_accuracy},
                     {"runs", one.runs},
                     {"assumed_learner", one.has_assumed_learner},
                     {"not_told_apart_from_best", one.is_alike}});
  return {{"of", report.of},
          {"best", report.best},
          {"tried", tried},
          {"cost",
           {{"settings", report.cost.settings},
            {"runs", report.cost.runs},
            {"simulated_s", report.cost.simulated_s},
            {"simulated_core_hours", report.cost.simulated_core_hours}}}};
}

int search_command(const StudyArguments& arguments) {
  PreparedStudy study = prepare(arguments);
  if (!study.plan.search)
    throw UserError(fmt::format("{} has no `search`", study.plan.file.string()),
                    "say what to look for: search: {method: exhaustive, minimize: time-to-accuracy}");
  study.planned.command = reproducing_command("search", arguments);
  const fs::path folder = arguments.output.empty()
                              ? fs::path("results") / fmt::format("{}-search", folder_name(study.plan.name))
                              : fs::path(arguments.output);
  make_folder_ready(folder, study, arguments);
  RunStore store(store_path(folder, std::nullopt));
  write_manifest(folder, study);
  std::vector<SearchReport> reports;
  try {
    reports = search_study(study, arguments.jobs, store);
  } catch (const Interrupted& interrupt) {
    throw Interrupted(interrupt.signal_number(),
                      "interrupted: finished runs are kept; the same command goes on");
  }
  store.write_plan(study.planned);
  if (arguments.json) {
    json all = json::array();
    for (const SearchReport& report : reports) all.push_back(to_json(report));
    fmt::print("{}\n", all.dump(2, ' ', false, json::error_handler_t::replace));
  } else {
    for (const SearchReport& report : reports) print_report(report, *study.plan.search);
    fmt::print("runs: {}\n", folder.string());
  }
  write_study_results(folder, study.planned, store,
                      {.command = study.planned.command, .jobs = arguments.jobs});
  print_warnings(study.warnings, study.note_lines());
  return std::ranges::all_of(reports, [](const SearchReport& report) { return report.best.has_value(); })
             ? exit_done
             : exit_expectation_failed;
}

}  // namespace

void add_search(CLI::App& app, CommandAction& action) {
  auto [search, arguments] = add_command<StudyArguments>(
      app, "search", "find the best setting of what a study varies, in few runs", search_command, action);
  search.footer(search_examples);
  add_file_options(search, arguments, "study (YAML) with a `search`");
  add_simulation_options(search, arguments, "folder of the runs (default: results/<name>-search)");
  add_uncertainty(search, arguments);
}

}  // namespace paceline

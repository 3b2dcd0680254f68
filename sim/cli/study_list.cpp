// study --list and study --run: look at the runs of a study, or carry out one of them.
#include <algorithm>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "sim/base/diagnostic.hpp"
#include "sim/cli/study.hpp"
#include "sim/report/statistics/comparison.hpp"
#include "sim/study/study_results.hpp"

namespace paceline {
namespace {

namespace fs = std::filesystem;
using json = nlohmann::ordered_json;

// The runs that an earlier run of the study finished, if its folder is there and not in use.
std::set<std::string> done_so_far(const fs::path& folder) {
  std::error_code ignored;
  if (!fs::exists(folder / store_file, ignored)) return {};
  return RunStore(folder / store_file, StoreAccess::read).done();
}

}  // namespace

int list_runs(const StudyArguments& arguments, PreparedStudy& study) {
  const PlannedStudy& planned = study.planned;
  const std::set<std::string> done = done_so_far(folder_of(arguments, study));
  std::string text;
  json runs = json::array();
  std::set<std::string> ids;
  for (const PlannedPoint& point : planned.points) {
    for (std::uint32_t r = 0; r < static_cast<std::uint32_t>(point.replications); ++r) {
      const std::string id = run_id(point.digest, r);
      ids.insert(id);
      json& run = runs.emplace_back(json{{"run", id}, {"name", point.name}, {"replication", r}});
      for (std::size_t c = 0; c < planned.columns.size(); ++c) run[planned.columns[c]] = point.labels[c];
      run["done"] = done.contains(id);
      text += fmt::format("{}  {:<5}  replication {:>3}  {}\n", id, done.contains(id) ? "done" : "to do", r,
                          point.name);
    }
  }
  if (arguments.json) {
    fmt::print("{}\n", runs.dump(2, ' ', false, json::error_handler_t::replace));
    return exit_done;
  }
  const auto finished = std::ranges::count_if(ids, [&](const std::string& id) { return done.contains(id); });
  fmt::print("{}{} combinations, {} runs, {} done\n", text, planned.points.size(), planned.run_count(),
             finished);
  if (ids.size() < planned.run_count())
    fmt::print("{} runs are the same as others and are simulated once\n", planned.run_count() - ids.size());
  print_warnings(study.warnings, study.note_lines());
  return exit_done;
}

int run_single(const StudyArguments& arguments, PreparedStudy& study) {
  const std::vector<PlannedRun> runs = missing_runs(study.planned, {}, std::nullopt);
  const auto run = std::ranges::find(runs, arguments.run, &PlannedRun::id);
  if (run == runs.end())
    throw UserError(fmt::format("the study has no run `{}`", arguments.run),
                    fmt::format("paceline study {} --list", shell_quoted(arguments.file)));
  const fs::path folder = arguments.output.empty() ? fs::path("results") / fmt::format("run-{}", run->id)
                                                   : fs::path(arguments.output);
  if (is_study_folder(folder))
    throw UserError(fmt::format("{} holds a whole study, which one run would replace", folder.string()),
                    "choose another folder with --output, or leave it out");
  PreparedStudy alone = prepare_scenarios({study.scenario(run->point)}, study.use);
  const ScenarioResults results =
      run_into_folder(alone, {{0, run->replication, run->id}}, folder,
                      fmt::format("{} --run {}", study.planned.command, run->id), arguments);
  print_comparison(compare(compared_runs({results})), folder, arguments);
  return results.runs.front().stall.empty() ? exit_done : exit_simulation_failed;
}

}  // namespace paceline

// check and plot: look at scenarios before, and at results after.
#include <algorithm>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "plots/draw.hpp"
#include "sim/cli/commands.hpp"
#include "sim/cli/study.hpp"
#include "sim/report/output/validity_table.hpp"
#include "sim/scenario/reader.hpp"
#include "sim/scenario/sweep/study_plan.hpp"
#include "sim/study/checks_before_running.hpp"
#include "sim/study/study_runs.hpp"

namespace paceline {
namespace {

using json = nlohmann::ordered_json;

// All that a run would refuse is refused here.
PreparedStudy checked(const RunArguments& arguments) {
  PreparedStudy study =
      is_study_file(arguments.file)
          ? prepare_study(arguments.file, arguments.overrides, use_of(arguments))
          : prepare_scenarios({load_scenario(arguments.file, arguments.overrides)}, use_of(arguments));
  try_network_learners(study);
  return study;
}

void print_values(const LoadedScenario& loaded) {
  std::size_t key_width = 0;
  std::size_t value_width = 0;
  for (const ResolvedValue& value : loaded.values) {
    key_width = std::max(key_width, value.key.size());
    value_width = std::max(value_width, std::min<std::size_t>(value.value.size(), 32));
  }
  fmt::print("# {}\n", loaded.scenario.name);
  for (const ResolvedValue& value : loaded.values)
    fmt::print("{:<{}}  {:<{}}  # {}\n", value.key, key_width, value.value, value_width, value.origin);
}

json values_json(const LoadedScenario& loaded) {
  json values = json::array();
  for (const ResolvedValue& value : loaded.values)
    values.push_back({{"key", value.key},
                      {"value", value.is_absent ? json(nullptr) : json(value.value)},
                      {"origin", value.origin}});
  return {{"name", loaded.scenario.name}, {"values", values}, {"warnings", loaded.warnings}};
}

}  // namespace

int check_command(const RunArguments& arguments) {
  PreparedStudy study = checked(arguments);
  json all = json::array();
  ValidityTable validity;
  for (std::size_t p = 0; p < study.planned.points.size(); ++p) {
    const LoadedScenario loaded = study.scenario(p);
    const std::vector<ValidityRow>& rows = study.planned.points[p].validity;
    validity.add(rows, static_cast<std::size_t>(loaded.scenario.replications));
    if (arguments.json) {
      all.push_back(values_json(loaded));
      all.back()["notes"] = check_before_running(loaded, study.files, study.use);
      all.back()["validity"] = validity_json(rows);
      continue;
    }
    print_values(loaded);
    fmt::print("\n");
  }
  if (arguments.json)
    fmt::print("{}\n", all.dump(2, ' ', false, json::error_handler_t::replace));
  else
    fmt::print("{}", validity.text());
  print_warnings(study.warnings, study.note_lines());
  return exit_done;
}

int plot_command(const PlotArguments& arguments) {
  plots::PlotRequest request{.folders = {},
                             .output = arguments.output,
                             .force = arguments.force,
                             .command = "paceline plot",
                             .only = arguments.only,
                             .recorded = arguments.recorded,
                             .page = plots::page_options(arguments.page)};
  for (const std::string& folder : arguments.folders) {
    request.folders.emplace_back(folder);
    request.command += fmt::format(" {}", shell_quoted(folder));
  }
  if (!arguments.recorded.empty())
    request.command += fmt::format(" --recorded {}", shell_quoted(arguments.recorded));
  json paths = json::array();
  for (const std::filesystem::path& path : plots::draw_figures(request)) {
    paths.push_back(path.string());
    if (!arguments.json) fmt::print("{}\n", path.string());
  }
  if (arguments.json) fmt::print("{}\n", paths.dump(2));
  return exit_done;
}

}  // namespace paceline

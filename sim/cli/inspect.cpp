// check and plot: look at scenarios before, and at results after.
#include <algorithm>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "plots/draw.hpp"
#include "sim/cli/commands.hpp"
#include "sim/cli/study.hpp"
#include "sim/scenario/reader.hpp"
#include "sim/scenario/sweep/study_plan.hpp"
#include "sim/study/checks_before_running.hpp"

namespace paceline {
namespace {

using json = nlohmann::ordered_json;

std::vector<LoadedScenario> load_any(const RunArguments& arguments) {
  if (!is_study_file(arguments.file)) return {load_scenario(arguments.file, arguments.overrides)};
  return load_study(arguments.file, arguments.overrides);
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
  json all = json::array();
  InputFiles files;
  // Combinations of a study share most of what there is to say.
  std::vector<std::string> warnings;
  std::vector<std::string> all_notes;
  for (const LoadedScenario& loaded : load_any(arguments)) {
    const std::vector<std::string> notes = check_before_running(loaded, files);
    if (arguments.json) {
      all.push_back(values_json(loaded));
      all.back()["notes"] = notes;
      continue;
    }
    print_values(loaded);
    fmt::print("\n");
    warnings.insert(warnings.end(), loaded.warnings.begin(), loaded.warnings.end());
    all_notes.insert(all_notes.end(), notes.begin(), notes.end());
  }
  print_warnings(warnings, all_notes);
  if (arguments.json) fmt::print("{}\n", all.dump(2, ' ', false, json::error_handler_t::replace));
  return exit_done;
}

int plot_command(const PlotArguments& arguments) {
  plots::PlotRequest request{.folders = {},
                             .output = arguments.output,
                             .force = arguments.force,
                             .command = "paceline plot",
                             .recorded = arguments.recorded};
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

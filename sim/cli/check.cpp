// check: look at a scenario or study before it runs.
#include <algorithm>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "sim/cli/options.hpp"
#include "sim/cli/study.hpp"
#include "sim/report/output/validity_table.hpp"
#include "sim/scenario/reader.hpp"
#include "sim/scenario/sweep/study_plan.hpp"
#include "sim/study/checks_before_running.hpp"
#include "sim/study/study_runs.hpp"

namespace paceline {
namespace {

constexpr const char* check_examples = R"(Examples:
  paceline check scenario.yaml                        every value, where it is written, and notes
  paceline check scenario.yaml --set stop.epochs=20   with a value replaced
  paceline check study.yaml --json                    every combination of a study, for machines)";

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

}  // namespace

void add_check(CLI::App& app, CommandAction& action) {
  auto [check, arguments] = add_command<RunArguments>(
      app, "check", "read a scenario or study and print every value with its origin", check_command, action);
  check.footer(check_examples);
  add_file_options(check, arguments, "scenario or study (YAML)");
}

}  // namespace paceline

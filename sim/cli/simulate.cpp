// run: simulate one scenario, write its results, print them.
#include <algorithm>
#include <chrono>
#include <filesystem>
#include <map>
#include <string>
#include <string_view>
#include <utility>

#include <fmt/format.h>

#include "sim/base/diagnostic.hpp"
#include "sim/base/message_colour.hpp"
#include "sim/cli/options.hpp"
#include "sim/cli/study.hpp"
#include "sim/report/output/staged_folder.hpp"
#include "sim/report/output/text_table.hpp"
#include "sim/scenario/sweep/study_plan.hpp"

namespace paceline {
namespace {

constexpr const char* run_examples = R"(Examples:
  paceline run scenario.yaml                                 into results/<name>
  paceline run scenario.yaml --set replications=50 --set batching.controller=dynamic -o results/dynamic
  paceline run scenario.yaml --set 'cluster.workers=[{repeat: 2, cores: 16}, {cores: 4}]'
  paceline run scenario.yaml --trace --force                 trace.json opens in Perfetto (ui.perfetto.dev))";

namespace fs = std::filesystem;
using Clock = std::chrono::steady_clock;

double seconds_since(Clock::time_point start) {
  return std::chrono::duration<double>(Clock::now() - start).count();
}

// Of all runs together, by part.
std::map<std::string, double> self_profile_of(const std::vector<RunResult>& runs) {
  std::map<std::string, double> all;
  for (const RunResult& run : runs)
    for (const auto& [part, seconds] : run.self_profile) all[part] += seconds;
  return all;
}

void print_self_profile(const std::map<std::string, double>& parts) {
  fmt::print(stderr, "time of this program, in run-info.json:");
  for (const auto& [part, seconds] : parts)
    fmt::print(stderr, " {} {:.3g} s{}", part, seconds, part == parts.rbegin()->first ? "\n" : ",");
}

int run_command(const RunArguments& arguments) {
  if (is_study_file(arguments.file))
    throw UserError(fmt::format("{} is a study, not a scenario", arguments.file),
                    fmt::format("paceline study {}", shell_quoted(arguments.file)));
  const Clock::time_point start = Clock::now();
  PreparedStudy study = prepare_scenario(arguments.file, arguments.overrides, use_of(arguments));
  const double reading_s = seconds_since(start);
  const fs::path folder = arguments.output.empty()
                              ? fs::path("results") / folder_name(study.planned.points[0].name)
                              : fs::path(arguments.output);
  const ScenarioResults results =
      run_into_folder(study, missing_runs(study.planned, {}), folder, reproducing_command("run", arguments),
                      arguments, reading_s);
  const std::vector<ComparedVariant> compared = compare(compared_runs({results}));
  print_comparison(compared, folder, arguments);
  print_warnings(results.loaded.warnings, results.notes);
  return report_expectations(compared, report_failures(results));
}

}  // namespace

int report_failures(const ScenarioResults& results) {
  const std::string& name = results.loaded.scenario.name;
  int status = exit_done;
  for (const std::string& failure : results.failures) {
    fmt::print(stderr, "error: {}, {}\n", name, failure);
    status = exit_simulation_failed;
  }
  for (const RunResult& run : results.runs) {
    if (run.stall.empty()) continue;
    fmt::print(stderr, "error: {}, replication {}: the job stalled at {}\n{}", name, run.seed.replication,
               format_time(run.end_time), run.stall);
    status = exit_simulation_failed;
  }
  return status;
}

ProfileUse use_of(const RunArguments& arguments) {
  return arguments.profile_uncertainty ? ProfileUse::drawn : ProfileUse::as_fitted;
}

RecordingOptions recording_of(const RunArguments& arguments) {
  return {
      .iterations = arguments.iterations, .trace = arguments.trace, .self_profile = arguments.self_profile};
}

ScenarioResults run_into_folder(PreparedStudy& study, const std::vector<PlannedRun>& runs,
                                const fs::path& folder, const std::string& command,
                                const RunArguments& arguments, double reading_s) {
  StagedFolder staged(folder, arguments.force);
  const Clock::time_point start = Clock::now();
  const fs::path unfinished = fmt::format("{}.unfinished", folder.string());
  WholeRuns whole = run_whole(study, runs, arguments.jobs, recording_of(arguments), unfinished);
  Provenance provenance{command, seconds_since(start), whole.peak_memory_mib, arguments.jobs};
  const Clock::time_point written_from = Clock::now();
  write_results(staged.path(), whole.variants.front(), provenance);
  if (arguments.self_profile) {
    provenance.self_profile = self_profile_of(whole.variants.front().runs);
    provenance.self_profile["reading"] = reading_s;
    provenance.self_profile["results"] = seconds_since(written_from);
    write_run_info(staged.path(), provenance);
    print_self_profile(provenance.self_profile);
  }
  staged.commit();
  std::error_code ignored;
  fs::remove(unfinished, ignored);
  return std::move(whole.variants.front());
}

void print_comparison(const std::vector<ComparedVariant>& compared, const fs::path& folder,
                      const RunArguments& arguments) {
  // More lines than this are not read in a terminal; they are in comparison.csv.
  constexpr std::size_t most_lines = 30;
  if (arguments.json) return fmt::print("{}", comparison_json(compared));
  if (compared.size() <= most_lines)
    fmt::print("{}\n", comparison_table(compared));
  else
    fmt::print("{} combinations: compare them with `paceline compare {}`\n", compared.size(),
               shell_quoted(folder.string()));
  fmt::print("results: {}\n", folder.string());
}

// The results are complete all the same; what went wrong inside the simulation matters more.
int report_expectations(const std::vector<ComparedVariant>& compared, int status) {
  for (const ComparedVariant& variant : compared) {
    for (const ExpectationOutcome& outcome : variant.expectations) {
      if (outcome.held) continue;
      fmt::print(stderr, "expectation failed: {}\n", failure_text(variant.name, outcome));
      if (status == exit_done) status = exit_expectation_failed;
    }
  }
  return status;
}

std::string shell_quoted(const std::string& argument) {
  constexpr std::string_view plain_characters =
      "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_-+=./,:@%";
  if (!argument.empty() && argument.find_first_not_of(plain_characters) == std::string::npos) return argument;
  std::string quoted = "'";
  for (const char c : argument) quoted += c == '\'' ? std::string("'\\''") : std::string(1, c);
  return quoted + "'";
}

// Without what cannot change a result: output folder, --force, --json and the number of jobs.
std::string reproducing_command(const std::string& subcommand, const RunArguments& arguments) {
  std::string command = fmt::format("paceline {} {}", subcommand, shell_quoted(arguments.file));
  for (const std::string& assignment : arguments.overrides)
    command += fmt::format(" --set {}", shell_quoted(assignment));
  if (arguments.iterations) command += " --iterations";
  if (arguments.trace) command += " --trace";
  if (arguments.profile_uncertainty) command += " --profile-uncertainty";
  return command;
}

void print_warnings(const std::vector<std::string>& warnings, const std::vector<std::string>& notes) {
  std::vector<std::string> said;
  const auto say = [&said](const std::string& text) {
    if (std::find(said.begin(), said.end(), text) != said.end()) return;
    print_messages(text);
    said.push_back(text);
  };
  for (const std::string& warning : warnings) say(warning);
  for (const std::string& note : notes) say("note: " + note + "\n");
}

void add_run(CLI::App& app, CommandAction& action) {
  auto [run, arguments] = add_command<RunArguments>(app, "run", "simulate one scenario over its replications",
                                                    run_command, action);
  run.footer(run_examples);
  add_file_options(run, arguments, "scenario (YAML)");
  add_run_options(run, arguments);
  run.add_flag("--self-profile", arguments.self_profile,
               "say where the time of this program went, in run-info.json; results stay the same");
}

}  // namespace paceline

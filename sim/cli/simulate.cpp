// run: simulate one scenario, write its results, print them.
#include <algorithm>
#include <chrono>
#include <filesystem>
#include <utility>

#include <fmt/format.h>

#include "sim/base/diagnostic.hpp"
#include "sim/cli/commands.hpp"
#include "sim/cli/simulate_parts.hpp"
#include "sim/report/output/results_folder.hpp"
#include "sim/report/output/staged_folder.hpp"
#include "sim/report/statistics/comparison.hpp"
#include "sim/scenario/reader.hpp"
#include "sim/scenario/sweep/study_file.hpp"
#include "sim/study/replications.hpp"

namespace paceline {
namespace {

namespace fs = std::filesystem;

// Stalled jobs are results, but not the ones asked for; runs that failed are none.
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

struct Timed {
  StudyRun run;
  Provenance provenance;
};

Timed simulate_all(std::vector<LoadedScenario> scenarios, const std::string& subcommand,
                   const RunArguments& arguments) {
  const auto start = std::chrono::steady_clock::now();
  StudyRun run = run_replications(std::move(scenarios), arguments.jobs,
                                  {.iterations = arguments.iterations, .trace = arguments.trace},
                                  arguments.profile_uncertainty ? ProfileUse::drawn : ProfileUse::as_fitted);
  const std::chrono::duration<double> elapsed = std::chrono::steady_clock::now() - start;
  const double memory = run.peak_memory_mib;
  return {std::move(run),
          {reproducing_command(subcommand, arguments), elapsed.count(), memory, arguments.jobs}};
}

int finish(const ScenarioResults& results, const fs::path& folder, const RunArguments& arguments) {
  const std::vector<ComparedVariant> compared = compare(std::vector<ScenarioResults>{results});
  if (arguments.json) {
    fmt::print("{}", comparison_json(compared));
  } else {
    fmt::print("{}\nresults: {}\n", comparison_table(compared), folder.string());
  }
  print_warnings(results.loaded.warnings, results.notes);
  return report_expectations(compared, report_failures(results));
}

}  // namespace

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
    fmt::print(stderr, "{}", text);
    said.push_back(text);
  };
  for (const std::string& warning : warnings) say(warning);
  for (const std::string& note : notes) say("note: " + note + "\n");
}

int run_command(const RunArguments& arguments) {
  if (is_study_file(arguments.file))
    throw UserError(fmt::format("{} is a study, not a scenario", arguments.file),
                    fmt::format("paceline study {}", shell_quoted(arguments.file)));
  std::vector<LoadedScenario> scenarios{load_scenario(arguments.file, arguments.overrides)};
  const fs::path folder = arguments.output.empty()
                              ? fs::path("results") / folder_name(scenarios[0].scenario.name)
                              : fs::path(arguments.output);
  StagedFolder staged(folder, arguments.force);
  const Timed timed = simulate_all(std::move(scenarios), "run", arguments);
  write_results(staged.path(), timed.run.variants.front(), timed.provenance);
  staged.commit();
  return finish(timed.run.variants.front(), folder, arguments);
}

}  // namespace paceline

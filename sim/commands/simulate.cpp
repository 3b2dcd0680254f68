// run and study: simulate, write results, print the comparison.
#include <algorithm>
#include <chrono>
#include <filesystem>
#include <utility>

#include <fmt/format.h>

#include "sim/base/diagnostic.hpp"
#include "sim/commands/commands.hpp"
#include "sim/report/comparison.hpp"
#include "sim/report/results_folder.hpp"
#include "sim/report/staged_folder.hpp"
#include "sim/scenario/reader.hpp"
#include "sim/scenario/study_file.hpp"
#include "sim/study/replications.hpp"

namespace paceline {
namespace {

namespace fs = std::filesystem;

void print_warnings(const std::vector<ScenarioResults>& variants) {
  // Variants of one study share most of them: each is said once.
  std::vector<std::string> said;
  const auto say = [&said](const std::string& text) {
    if (std::find(said.begin(), said.end(), text) != said.end()) return;
    fmt::print(stderr, "{}", text);
    said.push_back(text);
  };
  for (const ScenarioResults& variant : variants) {
    for (const std::string& warning : variant.loaded.warnings) say(warning);
    for (const std::string& note : variant.notes) say("note: " + note + "\n");
  }
}

// Stalled jobs are results, but not the ones asked for; runs that failed are none.
int report_failures(const std::vector<ScenarioResults>& variants) {
  int status = exit_done;
  for (const ScenarioResults& variant : variants) {
    const std::string& name = variant.loaded.scenario.name;
    for (const std::string& failure : variant.failures) {
      fmt::print(stderr, "error: {}, {}\n", name, failure);
      status = exit_simulation_failed;
    }
    for (const RunResult& run : variant.runs) {
      if (run.stall.empty()) continue;
      fmt::print(stderr, "error: {}, replication {}: the job stalled at {}\n{}", name, run.seed.replication,
                 format_time(run.end_time), run.stall);
      status = exit_simulation_failed;
    }
  }
  return status;
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

int finish(const std::vector<ScenarioResults>& variants, const fs::path& folder,
           const RunArguments& arguments) {
  const std::vector<ComparedVariant> compared = compare(variants);
  if (arguments.json) {
    fmt::print("{}", comparison_json(compared));
  } else {
    fmt::print("{}\nresults: {}\n", comparison_table(compared), folder.string());
  }
  print_warnings(variants);
  return report_expectations(compared, report_failures(variants));
}

}  // namespace

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
  return finish(timed.run.variants, folder, arguments);
}

int study_command(const RunArguments& arguments) {
  if (!is_study_file(arguments.file))
    throw UserError(fmt::format("{} is not a study: it has neither `study` nor `variants`", arguments.file),
                    fmt::format("for a scenario: paceline run {}", shell_quoted(arguments.file)));
  const Study study = load_study(arguments.file, arguments.overrides);
  const fs::path folder =
      arguments.output.empty() ? fs::path("results") / folder_name(study.name) : fs::path(arguments.output);
  StagedFolder staged(folder, arguments.force);
  std::vector<LoadedScenario> scenarios;
  for (const StudyVariant& variant : study.variants) scenarios.push_back(variant.loaded);
  const Timed timed = simulate_all(std::move(scenarios), "study", arguments);
  for (const ScenarioResults& variant : timed.run.variants) {
    const fs::path of_variant = staged.path() / folder_name(variant.loaded.scenario.name);
    fs::create_directory(of_variant);
    write_results(of_variant, variant, timed.provenance);
  }
  write_study_summary(staged.path(), study.name, study.question, timed.run.variants, timed.provenance);
  staged.commit();
  return finish(timed.run.variants, folder, arguments);
}

}  // namespace paceline

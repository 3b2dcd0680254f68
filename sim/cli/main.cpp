// The one composition root: what the command line offers. What the commands do: sim/commands/.
#include <cerrno>
#include <cstdio>
#include <cstring>
#include <exception>
#include <functional>
#include <string>
#include <string_view>

#include <CLI/CLI.hpp>
#include <fmt/format.h>

#include "sim/base/diagnostic.hpp"
#include "sim/base/interrupt.hpp"
#include "sim/cli/commands.hpp"
#include "sim/cli/usage_mistake.hpp"
#include "sim/engine/simgrid/simgrid_timeline.hpp"
#include "sim/report/output/build_info.hpp"
#include "sim/scenario/reader.hpp"
#include "sim/scenario/sweep/study_file.hpp"
#include "sim/study/pool/process_pool.hpp"

namespace paceline {
namespace {

constexpr std::string_view description =
    "Predicts how long distributed training takes to reach an accuracy on an uneven cluster, and which way "
    "of\n"
    "synchronizing and batching gets there first.";

constexpr std::string_view examples = R"(Examples:
  paceline calibrate small-cnn -o profile.json             measure this machine
  paceline check scenario.yaml                             every value and where it comes from
  paceline run scenario.yaml --set batching.controller=dynamic
  paceline study scenarios/quickstart/study.yaml --set job.profile=profile.json -o results/mine
  paceline compare results/mine                            which is best, and how sure that is
  paceline plot results/mine -o figures

Exit codes: 0 done, 1 a simulation failed, 2 a mistake in the arguments or in a file, 3 an expectation of the
scenario (`expect`) did not hold.)";

std::string version_text() {
  const BuildInfo& build = build_info();
  return fmt::format("paceline {} (commit {})\nSimGrid {}\nLibTorch {}\n{}", build.version, build.commit,
                     simgrid_version(), build.libtorch, build.compiler);
}

void add_file_options(CLI::App& command, RunArguments& arguments, const std::string& file_help) {
  command.add_option("FILE", arguments.file, file_help)->required();
  command
      .add_option("--set", arguments.overrides,
                  "override a value, e.g. --set cluster.workers.2.speed=0.5 (repeatable; the value is YAML)")
      ->type_name("KEY.PATH=VALUE")
      ->allow_extra_args(false);
  command.add_flag("--json", arguments.json, "print for machines");
}

void add_run_options(CLI::App& command, RunArguments& arguments) {
  command.add_option("-o,--output", arguments.output, "results folder (default: results/<name>)")
      ->type_name("DIR");
  command.add_flag("--force", arguments.force, "replace results that are already there");
  command.add_flag("--iterations", arguments.iterations,
                   "also write iterations.csv: one row for each iteration");
  command.add_flag("--trace", arguments.trace,
                   "also write trace.json (opens in Perfetto) and activities.csv, of the first replication");
  command.add_flag(
      "--profile-uncertainty", arguments.profile_uncertainty,
      "draw compute times from the profile's ensemble for each replication: its calibration error "
      "reaches the results");
  command.add_option("-j,--jobs", arguments.jobs, "simulations at a time; never changes a result")
      ->check(CLI::Range(1, 4096))
      ->capture_default_str();
}

void add_fit(CLI::App& app, FitArguments& arguments, std::function<int()>& action) {
  CLI::App* fit = app.add_subcommand("fit", "fit a statistical learner to recorded learning curves");
  fit->add_option("LOGS", arguments.logs,
                  "YAML file of the logs (calibrate/learning/logs_file.hpp), or a folder of recorded runs")
      ->required();
  fit->add_option("-o,--output", arguments.output, "learner file; residuals lie beside it")
      ->capture_default_str();
  fit->add_option("--name", arguments.name, "of the learner (default: that of the logs)");
  fit->add_option("--campaign", arguments.campaign,
                  "of a folder of recorded runs: which runs belong together");
  fit->add_option("--policy", arguments.policies, "fit only runs of this policy (repeatable)")
      ->allow_extra_args(false);
  fit->add_option("--form", arguments.form, "relaxation, quadratic or power-law")
      ->capture_default_str();
  fit->add_option("--bootstrap", arguments.bootstrap, "refits for the intervals; 0 for none")
      ->check(CLI::Range(0, 10000))
      ->capture_default_str();
  fit->add_flag("!--no-figures", arguments.figures, "do not draw the residuals");
  fit->add_flag("--skip-bad", arguments.skip_bad, "go on without what is bad in the logs");
  fit->add_flag("--force", arguments.force, "replace a learner that is already there");
  fit->callback([&] { action = [&] { return fit_command(arguments); }; });
}

void add_validate_learner(CLI::App& validate, CompareLearnerArguments& arguments,
                          std::function<int()>& action) {
  CLI::App* learner = validate.add_subcommand(
      "learner", "compare a statistical learner with real training under the same policies");
  learner->add_option("TRAINED", arguments.trained, "results folder of the study that trained networks")
      ->required();
  learner->add_option("PREDICTED", arguments.predicted, "results folder of the same study with the learner")
      ->required();
  learner->callback([&] { action = [&] { return validate_learner_command(arguments); }; });
}

void add_validate(CLI::App& app, ValidateArguments& arguments, CompareLearnerArguments& learner,
                  std::function<int()>& action) {
  CLI::App* validate = app.add_subcommand("validate", "say how good predictions are");
  validate->require_subcommand(1);
  add_validate_learner(*validate, learner, action);
  CLI::App* recorded = validate->add_subcommand(
      "recorded", "predict every recorded run from fits that exclude it, beside null models");
  recorded
      ->add_option("DIR", arguments.folder,
                   "folder of recorded runs (calibrate/learning/recorded_layout.hpp)")
      ->required();
  recorded->add_option("-o,--output", arguments.output, "results folder")
      ->type_name("DIR")
      ->capture_default_str();
  recorded->add_option("--replications", arguments.replications, "simulated runs of each setting")
      ->check(CLI::Range(2, 100000))
      ->capture_default_str();
  arguments.jobs = default_jobs();
  recorded->add_option("-j,--jobs", arguments.jobs, "processes at a time")
      ->check(CLI::Range(1, 1024))
      ->capture_default_str();
  recorded->add_flag("!--no-figures", arguments.figures, "do not draw predicted against recorded");
  recorded->add_flag("--skip-bad", arguments.skip_bad, "go on without what is bad in the logs");
  recorded->add_flag("--force", arguments.force, "replace results that are already there");
  recorded->callback([&] { action = [&] { return validate_recorded_command(arguments); }; });
}

constexpr std::string_view study_examples = R"(Examples:
  paceline study study.yaml --list                  every run with its id, none carried out
  paceline study study.yaml -o results/mine         run what is missing; give it again after an interruption
  paceline study study.yaml --run 1f3a5b7c9d1e2f30  one run, with all its results
  paceline study study.yaml --shard 2/8             the second of eight parts, on any machine
  paceline study study.yaml --submit slurm          a job array that runs all parts
  paceline study merge results/mine                 put the parts together, and say what is missing)";

void add_study(CLI::App& app, StudyArguments& arguments, MergeArguments& merge_arguments,
               std::function<int()>& action) {
  CLI::App* study =
      app.add_subcommand("study", "simulate what a study compares; runs that are there are kept");
  study->footer(std::string(study_examples));
  add_file_options(*study, arguments, "study (YAML: a base scenario, named variants, and what is varied)");
  study->get_option("FILE")->required(false);
  add_run_options(*study, arguments);
  study->add_flag("--list", arguments.list, "print the runs, and which are done; run none");
  study->add_flag(
      "--folders", arguments.folders,
      "also write a results folder for each combination (always, when nothing but variants is given)");
  study->add_option("--run", arguments.run, "carry out one run, by its id")->type_name("ID");
  study->add_option("--shard", arguments.shard, "carry out one part of the runs into a store of its own")
      ->type_name("I/N");
  study->add_option("--submit", arguments.submit, "write and submit a job array: slurm")
      ->type_name("SCHEDULER");
  study->add_option("--tasks", arguments.tasks, "of the job array (default: 16, at most one for each run)")
      ->check(CLI::Range(1, 100'000));
  study->add_option("--submit-option", arguments.submit_options, "passed on to sbatch (repeatable)")
      ->allow_extra_args(false);
  CLI::App* merge =
      study->add_subcommand("merge", "put the parts of a study together, and say what is missing");
  merge->footer(
      "Parts that are not there yet are no failure: what is there is written, what is missing is said, and "
      "the "
      "exit\ncode is 0. It is 1 if a run failed.");
  merge->add_option("DIR", merge_arguments.folder, "folder of the study")->required();
  merge->add_option("OTHERS", merge_arguments.others, "folders or stores to take runs from as well");
  merge->callback([&action, &merge_arguments] { action = [&] { return merge_command(merge_arguments); }; });
  study->callback([&action, &arguments, merge] {
    if (merge->parsed()) return;
    if (arguments.file.empty()) throw CLI::RequiredError("FILE");
    action = [&arguments] { return study_command(arguments); };
  });
}

constexpr std::string_view compare_examples = R"(Examples:
  paceline compare results/mine                            ranking, Pareto front, sensitivity, where the winner changes
  paceline compare results/mine --against "BSP, level HL8"  everything paired with one combination)";

void add_compare(CLI::App& app, CompareArguments& arguments, std::function<int()>& action) {
  CLI::App* compare = app.add_subcommand("compare", "compare the combinations of a study, pair by pair");
  compare->footer(std::string(compare_examples));
  compare->add_option("DIR", arguments.folder, "folder of a study")->required();
  compare->add_option("--against", arguments.against, "combination to compare with (default: the best)")
      ->type_name("NAME");
  compare->add_option("--lines", arguments.lines, "of each table")
      ->check(CLI::Range(1, 1'000'000))
      ->capture_default_str();
  compare->add_flag("--json", arguments.json, "print for machines");
  compare->callback([&] { action = [&] { return compare_command(arguments); }; });
}

constexpr std::string_view search_examples = R"(Examples:
  paceline search study.yaml                        as its `search` says
  paceline search study.yaml -o results/search      go on after an interruption: runs are kept)";

void add_search(CLI::App& app, StudyArguments& arguments, std::function<int()>& action) {
  CLI::App* search =
      app.add_subcommand("search", "find the best setting of what a study varies, in few runs");
  search->footer(std::string(search_examples));
  add_file_options(*search, arguments, "study (YAML) with a `search`");
  search->add_option("-o,--output", arguments.output, "folder of the runs (default: results/<name>-search)")
      ->type_name("DIR");
  search->add_flag("--force", arguments.force, "forget the runs that are already there");
  search->add_flag("--profile-uncertainty", arguments.profile_uncertainty,
                   "draw compute times from the profile's ensemble for each replication");
  search->add_option("-j,--jobs", arguments.jobs, "simulations at a time; never changes a result")
      ->check(CLI::Range(1, 4096))
      ->capture_default_str();
  search->callback([&] { action = [&] { return search_command(arguments); }; });
}

void add_timing(CLI::App& app, TimingArguments& arguments, std::function<int()>& action) {
  CLI::App* timing = app.add_subcommand(
      "timing", "search how long to train synchronously first: the smallest share that keeps the accuracy");
  timing->footer(
      "Example:\n  paceline timing scenarios/sync-switch/setup1.yaml --tolerance 0.01 -o results/timing");
  add_file_options(*timing, arguments.run,
                   "scenario (YAML) of two phases, the first with a share, under BSP");
  timing->add_option("-o,--output", arguments.run.output, "results folder (default: results/<name>-timing)")
      ->type_name("DIR");
  timing->add_flag("--force", arguments.run.force, "replace results that are already there");
  timing->add_option("-j,--jobs", arguments.run.jobs, "simulations at a time; never changes a result")
      ->check(CLI::Range(1, 4096))
      ->capture_default_str();
  timing->add_option("--target", arguments.target, "accuracy to keep (default: what BSP alone reaches)")
      ->check(CLI::Range(0.0, 1.0));
  timing->add_option("--tolerance", arguments.tolerance, "by which a mean may miss the target")
      ->check(CLI::Range(1e-6, 1.0))
      ->capture_default_str();
  timing->add_flag("--one-sided", arguments.one_sided, "better than the target is good too");
  timing->add_option("--runs", arguments.replications, "of each share")
      ->check(CLI::Range(1, 100000))
      ->capture_default_str();
  timing->add_option("--settings", arguments.settings, "shares tried between 0 and 100 %")
      ->check(CLI::Range(1, 30))
      ->capture_default_str();
  timing->add_option("--fresh", arguments.fresh, "further seeds for the chosen share and the next lower one")
      ->check(CLI::Range(0, 100000))
      ->capture_default_str();
  timing
      ->add_option("--recorded", arguments.recorded,
                   "CSV file (share_percent,final_accuracy) of recorded values, drawn as circles")
      ->type_name("FILE");
  timing->add_flag("!--no-figures", arguments.figures, "do not draw accuracy against share");
  timing->callback([&] { action = [&] { return timing_command(arguments); }; });
}

int dispatch(int argc, char** argv) {
  if (argc > 1 && std::string_view(argv[1]) == "calibrate") exec_calibrate(argv + 1);

  CLI::App app{std::string(description), "paceline"};
  app.footer(std::string(examples));
  app.set_version_flag("--version", version_text());
  app.require_subcommand(1);
  std::function<int()> action;

  RunArguments arguments;
  arguments.jobs = default_jobs();
  CLI::App* run = app.add_subcommand("run", "simulate one scenario over its replications");
  add_file_options(*run, arguments, "scenario (YAML)");
  add_run_options(*run, arguments);
  run->callback([&] { action = [&] { return run_command(arguments); }; });

  StudyArguments study_arguments;
  study_arguments.jobs = default_jobs();
  MergeArguments merge_arguments;
  add_study(app, study_arguments, merge_arguments, action);
  CompareArguments compare_arguments;
  add_compare(app, compare_arguments, action);
  StudyArguments search_arguments;
  search_arguments.jobs = default_jobs();
  add_search(app, search_arguments, action);

  CLI::App* check =
      app.add_subcommand("check", "read a scenario or study and print every value with its origin");
  add_file_options(*check, arguments, "scenario or study (YAML)");
  check->callback([&] { action = [&] { return check_command(arguments); }; });

  PlotArguments plot_arguments;
  CLI::App* plot =
      app.add_subcommand("plot", "draw figures (PDF, PNG) from results folders, a study, or a profile");
  plot->add_option("DIR", plot_arguments.folders, "results folders, study folders, or one profile")
      ->required();
  plot->add_option("-o,--output", plot_arguments.output, "folder of the figures")
      ->type_name("DIR")
      ->capture_default_str();
  plot->add_option("--recorded", plot_arguments.recorded,
                   "CSV file of recorded outcomes (variant,final_accuracy,relative_time), drawn as circles")
      ->type_name("FILE");
  plot->add_flag("--force", plot_arguments.force, "replace figures that are already there");
  plot->add_flag("--json", plot_arguments.json, "print the paths for machines");
  plot->callback([&] { action = [&] { return plot_command(plot_arguments); }; });

  TimingArguments timing_arguments;
  timing_arguments.run.jobs = default_jobs();
  add_timing(app, timing_arguments, action);

  FitArguments fit_arguments;
  add_fit(app, fit_arguments, action);

  ValidateArguments validate_arguments;
  CompareLearnerArguments compare_learner_arguments;
  add_validate(app, validate_arguments, compare_learner_arguments, action);

  bool of_study = false;
  CLI::App* schema = app.add_subcommand("schema", "print the JSON schema of scenario files, for editors");
  schema->add_flag("--study", of_study, "the schema of study files instead");
  schema->callback([&] {
    action = [&] {
      fmt::print("{}\n", of_study ? study_schema() : scenario_schema());
      return exit_done;
    };
  });

  app.add_subcommand("calibrate", "measure how long a network takes on this machine (see calibrate --help)");

  try {
    app.parse(argc, argv);
  } catch (const CLI::ParseError& error) {
    if (error.get_exit_code() != 0) throw usage_mistake(app, error);
    app.exit(error);  // help and version
    return exit_done;
  }
  return action();
}

}  // namespace
}  // namespace paceline

int main(int argc, char** argv) {
  try {
    paceline::catch_interrupts();
    const int status = paceline::dispatch(argc, argv);
    if (std::fflush(stdout) == 0 && std::ferror(stdout) == 0) return status;
    fmt::print(stderr, "error: the output could not be written: {}\n", std::strerror(errno));
    return paceline::exit_simulation_failed;
  } catch (const paceline::Interrupted& interrupt) {
    fmt::print(stderr, "{}\n", interrupt.what());
    return paceline::exit_signal_base + interrupt.signal_number();
  } catch (const paceline::UserError& error) {
    fmt::print(stderr, "{}", error.what());
    return paceline::exit_user_error;
  } catch (const std::exception& error) {
    fmt::print(stderr, "error: {}\n", error.what());
    return paceline::exit_simulation_failed;
  }
}

// What the command line offers. What the commands do is in the other files of this folder.
#include <cerrno>
#include <cstdio>
#include <cstring>
#include <exception>
#include <functional>
#include <memory>
#include <string>
#include <string_view>
#include <tuple>
#include <utility>

#include <CLI/CLI.hpp>
#include <fmt/format.h>
#include <fmt/ranges.h>

#include "sim/base/diagnostic.hpp"
#include "sim/base/interrupt.hpp"
#include "sim/base/message_colour.hpp"
#include "sim/cli/commands.hpp"
#include "sim/cli/help.hpp"
#include "sim/cli/usage_mistake.hpp"
#include "sim/engine/simgrid/simgrid_timeline.hpp"
#include "sim/report/output/build_info.hpp"
#include "sim/scenario/reader.hpp"
#include "sim/scenario/sweep/study_plan.hpp"
#include "sim/study/pool/process_pool.hpp"

namespace paceline {
namespace {

constexpr const char* description =
    "Predicts how long distributed training takes to reach an accuracy on an uneven cluster, and which way "
    "of\n"
    "synchronizing and batching gets there first.";

constexpr const char* examples = R"(Examples:
  paceline init                                            a first scenario, with comments
  paceline calibrate small-cnn -o profile.json             measure this machine
  paceline check scenario.yaml                             every value and where it comes from
  paceline run scenario.yaml --set batching.controller=dynamic
  paceline study scenarios/quickstart/study.yaml --set job.profile=profile.json -o results/mine
  paceline compare results/mine                            which is best, and how sure that is
  paceline plot results/mine -o figures
  paceline table results/mine --format latex

Exit codes: 0 done, 1 a simulation failed, 2 a mistake in the arguments or in a file, 3 an expectation of the
scenario (`expect`) did not hold.)";

constexpr const char* run_examples = R"(Examples:
  paceline run scenario.yaml                                 into results/<name>
  paceline run scenario.yaml --set replications=50 --set batching.controller=dynamic -o results/dynamic
  paceline run scenario.yaml --set 'cluster.workers=[{repeat: 2, cores: 16}, {cores: 4}]'
  paceline run scenario.yaml --trace --force                 trace.json opens in Perfetto (ui.perfetto.dev))";

constexpr const char* check_examples = R"(Examples:
  paceline check scenario.yaml                        every value, where it is written, and notes
  paceline check scenario.yaml --set stop.epochs=20   with a value replaced
  paceline check study.yaml --json                    every combination of a study, for machines)";

constexpr const char* init_examples = R"(Examples:
  paceline init                                                scenario.yaml, of ResNet-32 on CIFAR-10
  paceline init six.yaml --network resnet50-cifar --workers 2x16,3x8,4 --target '70 %'
  paceline init mine.yaml --profile profile.json --policy asp  with the times of your own machine
  paceline init --study                                        scenario.yaml and a study.yaml of it)";

constexpr const char* list_examples = R"(Examples:
  paceline list policies              words for `policy`, and what they do
  paceline list profiles              shipped ones, with network and core counts
  paceline list learners results      those in a folder of your own)";

constexpr const char* schema_examples = R"(Examples:
  paceline schema > scenario.schema.json           then, as the first line of a scenario:
                                                   # yaml-language-server: $schema=scenario.schema.json
  paceline schema --study > study.schema.json)";

constexpr const char* reference_examples = R"(Examples:
  paceline reference scenario | less
  paceline reference results > results.md)";

constexpr const char* fit_examples = R"(Examples:
  paceline fit logs.yaml -o learner.json
  paceline fit recorded/ --policy bsp --policy asp --bootstrap 0 -o learner.json)";

constexpr const char* validate_examples = R"(Examples:
  paceline validate recorded recorded/ -o results/validation
  paceline validate learner results/trained results/predicted)";

constexpr const char* completion_examples = R"(Examples:
  source <(paceline completion)                                          in this shell
  paceline completion > ~/.local/share/bash-completion/completions/paceline)";

constexpr const char* study_examples = R"(Examples:
  paceline study study.yaml --list                  every run with its id, none carried out
  paceline study study.yaml -o results/mine         run what is missing; give it again after an interruption
  paceline study study.yaml --run 1f3a5b7c9d1e2f30  one run, with all its results
  paceline study study.yaml --shard 2/8             the second of eight parts, on any machine
  paceline study study.yaml --submit slurm          a job array that runs all parts
  paceline study merge results/mine                 put the parts together, and list what is missing)";

constexpr const char* compare_examples = R"(Examples:
  paceline compare results/mine                             ranking, Pareto front, sensitivity, winners
  paceline compare results/mine --against "BSP, level HL8"  everything paired with one combination)";

constexpr const char* table_examples = R"(Examples:
  paceline table results/mine --format latex > table.tex    \input{table} with \usepackage{booktabs}
  paceline table results/mine --format csv                  the same cells; exact numbers: comparison.csv)";

constexpr const char* plot_examples = R"(Examples:
  paceline plot results/mine -o figures                     everything there is to see
  paceline plot results/mine --only time-to-accuracy --style acm --format pdf,tex -o paper
Each figure comes with NAME.txt, its caption, and NAME.gp: `gnuplot NAME.gp` draws it again. For TeX,
\input{NAME-tex} (with NAME-tex.pdf beside it; needs graphicx and color).)";

constexpr const char* search_examples = R"(Examples:
  paceline search study.yaml                        as its `search` says
  paceline search study.yaml -o results/search      go on after an interruption: runs are kept)";

using Action = std::function<int()>;

// A subcommand with arguments of its own, which live as long as it does.
template <class Arguments>
std::pair<CLI::App&, Arguments&> add_command(CLI::App& app, const std::string& name, const std::string& help,
                                             int (*carry_out)(const Arguments&), Action& action) {
  const auto arguments = std::make_shared<Arguments>();
  CLI::App& command = *app.add_subcommand(name, help);
  command.callback([=, &action, &command] {
    if (!command.get_subcommands().empty()) return;  // one of them is carried out
    if constexpr (requires { arguments->file; })
      if (arguments->file.empty()) throw CLI::RequiredError("FILE");
    action = [=] { return carry_out(*arguments); };
  });
  return {command, *arguments};
}

template <class Number>
void add_number(CLI::App& command, const std::string& name, Number& number, const std::string& help,
                Number least, Number most) {
  command.add_option(name, number, help)->check(CLI::Range(least, most))->capture_default_str();
}

void add_jobs(CLI::App& command, int& jobs) {
  jobs = default_jobs();
  add_number(command, "-j,--jobs", jobs, "processes at a time; never changes a result", 1, 4096);
}

// A folder or file; what stands there at first is its default.
void add_path(CLI::App& command, const std::string& name, std::string& path, const std::string& help,
              const std::string& type) {
  CLI::Option* option = command.add_option(name, path, help)->type_name(type);
  if (!path.empty()) option->capture_default_str();
}

// May be given several times.
void add_list(CLI::App& command, const std::string& name, std::vector<std::string>& list,
              const std::string& help, const std::string& type = "TEXT") {
  command.add_option(name, list, help)->type_name(type)->allow_extra_args(false);
}

void add_file_options(CLI::App& command, RunArguments& arguments, const std::string& file_help) {
  command.add_option("FILE", arguments.file, file_help)->required();
  add_list(command, "--set", arguments.overrides,
           "override a value, e.g. --set cluster.workers.2.speed=0.5 (repeatable; the value is YAML)",
           "KEY.PATH=VALUE");
  command.add_flag("--json", arguments.json, "print for machines");
}

void add_simulation_options(CLI::App& command, RunArguments& arguments, const std::string& output_help) {
  add_path(command, "-o,--output", arguments.output, output_help, "DIR");
  command.add_flag("--force", arguments.force, "replace results that are already there");
  add_jobs(command, arguments.jobs);
}

void add_uncertainty(CLI::App& command, RunArguments& arguments) {
  command.add_flag(
      "--profile-uncertainty", arguments.profile_uncertainty,
      "draw compute times from the profile's ensemble for each replication: its calibration error "
      "reaches the results");
}

void add_run_options(CLI::App& command, RunArguments& arguments) {
  add_simulation_options(command, arguments, "results folder (default: results/<name>)");
  command.add_flag("--iterations", arguments.iterations,
                   "also write iterations.csv: one row for each iteration");
  command.add_flag("--trace", arguments.trace,
                   "also write trace.json (opens in Perfetto) and activities.csv, of the first replication");
  add_uncertainty(command, arguments);
}

void add_study(CLI::App& app, Action& action) {
  auto [study, arguments] = add_command<StudyArguments>(
      app, "study", "simulate what a study compares; runs that are there are kept", study_command, action);
  study.footer(study_examples);
  add_file_options(study, arguments, "study (YAML: a base scenario, named variants, and what is varied)");
  study.get_option("FILE")->required(false);
  add_run_options(study, arguments);
  study.add_flag("--list", arguments.list, "print the runs, and which are done; run none");
  study.add_flag(
      "--folders", arguments.folders,
      "also write a results folder for each combination (always, when nothing but variants is given)");
  study.add_option("--run", arguments.run, "carry out one run, by its id")->type_name("ID");
  study.add_option("--shard", arguments.shard, "carry out one part of the runs into a store of its own")
      ->type_name("I/N");
  study.add_option("--submit", arguments.submit, "write and submit a job array: slurm")
      ->type_name("SCHEDULER");
  study.add_option("--tasks", arguments.tasks, "of the job array (default: 16, at most one for each run)")
      ->check(CLI::Range(1, 100'000));
  add_list(study, "--submit-option", arguments.submit_options, "passed on to sbatch (repeatable)");
  auto [merge, places] = add_command<MergeArguments>(
      study, "merge", "put the parts of a study together, and list what is missing", merge_command, action);
  merge.footer(
      "Missing parts are no failure: the others are merged, and the exit code is 0. It is 1 if a run "
      "failed.");
  merge.add_option("DIR", places.folder, "folder of the study")->required();
  merge.add_option("OTHERS", places.others, "folders or stores to take runs from as well");
}

void add_compare(CLI::App& app, Action& action) {
  auto [compare, arguments] = add_command<CompareArguments>(
      app, "compare", "compare the combinations of a study, pair by pair", compare_command, action);
  compare.footer(compare_examples);
  compare.add_option("DIR", arguments.folder, "folder of a study")->required();
  compare.add_option("--against", arguments.against, "combination to compare with (default: the best)")
      ->type_name("NAME");
  add_number(compare, "--lines", arguments.lines, "of each table", 1, 1'000'000);
  compare.add_flag("--json", arguments.json, "print for machines");
}

void add_search(CLI::App& app, Action& action) {
  auto [search, arguments] = add_command<StudyArguments>(
      app, "search", "find the best setting of what a study varies, in few runs", search_command, action);
  search.footer(search_examples);
  add_file_options(search, arguments, "study (YAML) with a `search`");
  add_simulation_options(search, arguments, "folder of the runs (default: results/<name>-search)");
  add_uncertainty(search, arguments);
}

void add_timing(CLI::App& app, Action& action) {
  auto [timing, arguments] = add_command<TimingArguments>(
      app, "timing",
      "search how long to train synchronously first: the smallest share that keeps the accuracy",
      timing_command, action);
  timing.footer(
      "Example:\n  paceline timing scenarios/sync-switch/setup1.yaml --tolerance 0.01 -o results/timing");
  add_file_options(timing, arguments.run, "scenario (YAML) of two phases, the first with a share, under BSP");
  add_simulation_options(timing, arguments.run, "results folder (default: results/<name>-timing)");
  timing.add_option("--target", arguments.target, "accuracy to keep (default: what BSP alone reaches)")
      ->check(CLI::Range(0.0, 1.0));
  add_number(timing, "--tolerance", arguments.tolerance, "by which a mean may miss the target", 1e-6, 1.0);
  timing.add_flag("--one-sided", arguments.one_sided, "better than the target is good too");
  add_number(timing, "--runs", arguments.replications, "of each share", 1, 100'000);
  add_number(timing, "--settings", arguments.settings, "shares tried between 0 and 100 %", 1, 30);
  add_number(timing, "--fresh", arguments.fresh, "further seeds for the chosen share and the next lower one",
             0, 100'000);
  add_path(timing, "--recorded", arguments.recorded,
           "CSV file (share_percent,final_accuracy) of recorded values, drawn as circles", "FILE");
  timing.add_flag("!--no-figures", arguments.figures, "do not draw accuracy against share");
}

void add_table(CLI::App& app, Action& action) {
  auto [table, arguments] = add_command<TableArguments>(
      app, "table", "print the comparison of a study, or a run's results, for a paper or a page",
      table_command, action);
  table.footer(table_examples);
  table.add_option("DIR", arguments.folder, "folder of a study or a run")->required();
  table.add_option("--format", arguments.format, "latex (with the package booktabs), markdown or csv")
      ->type_name("NAME")
      ->required();
}

void add_plot(CLI::App& app, Action& action) {
  auto [plot, arguments] = add_command<PlotArguments>(
      app, "plot", "draw figures from results folders, a study, or a profile", plot_command, action);
  plot.footer(plot_examples);
  plot.add_option("DIR", arguments.folders, "results folders, study folders, or one profile")->required();
  add_path(plot, "-o,--output", arguments.output, "folder of the figures", "DIR");
  add_path(plot, "--recorded", arguments.recorded,
           "CSV file of recorded outcomes (variant,final_accuracy,relative_time), drawn as circles", "FILE");
  add_list(plot, "--only", arguments.only, "draw this figure alone, e.g. time-to-accuracy (repeatable)",
           "NAME");
  plots::PageWords& page = arguments.page;
  plot.add_option("--style", page.style, "a column of an acm or ieee paper: width, font and size, no footer");
  plot.add_option("--width", page.width, "of the figure, as 3.33in (default), 7in or 85mm")
      ->type_name("LENGTH");
  plot.add_option("--size", page.size, "of the text (default: 8pt); none of it is below 7pt")
      ->type_name("LENGTH");
  plot.add_option("--font", page.font, "family (default: Liberation Sans); TeX uses the paper's")
      ->type_name("NAME");
  plot.add_option("--format", page.format, "some of pdf,svg,png,tex (default: pdf,png)")->type_name("LIST");
  plot.add_option("--title", page.title, "above the figure");
  plot.add_flag("--no-footer", page.no_footer, "leave out note and command; NAME.txt has them");
  plot.add_flag("--anonymous", page.anonymous, "name neither command nor machine, in no file");
  plot.add_flag("--force", arguments.force, "replace figures that are already there");
  plot.add_flag("--json", arguments.json, "print the paths for machines");
}

void add_fit(CLI::App& app, Action& action) {
  auto [fit, arguments] = add_command<FitArguments>(
      app, "fit", "fit a statistical learner to recorded learning curves", fit_command, action);
  fit.footer(fit_examples);
  fit.add_option("LOGS", arguments.logs, "YAML file of the logs, or a folder of recorded runs")->required();
  add_path(fit, "-o,--output", arguments.output, "learner file; residuals lie beside it", "FILE");
  fit.add_option("--name", arguments.name, "of the learner (default: that of the logs)");
  fit.add_option("--campaign", arguments.campaign,
                 "of a folder of recorded runs: which runs belong together");
  add_list(fit, "--policy", arguments.policies, "fit only runs of this policy (repeatable)");
  fit.add_option("--form", arguments.form, "relaxation or power-law")->capture_default_str();
  add_number(fit, "--bootstrap", arguments.bootstrap, "refits for the intervals; 0 for none", 0, 10'000);
  fit.add_flag("!--no-figures", arguments.figures, "do not draw the residuals");
  fit.add_flag("--skip-bad", arguments.skip_bad, "go on without what is bad in the logs");
  fit.add_flag("--force", arguments.force, "replace a learner that is already there");
}

void add_predict(CLI::App& app, Action& action) {
  auto [predict, arguments] = add_command<PredictArguments>(
      app, "predict", "predict asynchronous jobs and exchanges from recorded ones of other configurations",
      predict_command, action);
  predict.add_option("CONFIGURATIONS", arguments.file, "CSV file with a column `configuration`")->required();
  predict.add_option("--records", arguments.records, "folder of recorded asynchronous jobs")
      ->required()
      ->type_name("DIR");
  add_path(
      predict, "--joint", arguments.joint,
      "recorded runs whose asynchronous ones trained the same network at a rate divided by the root of the "
      "workers: fit accuracy to both",
      "DIR");
  add_path(predict, "-o,--output", arguments.output, "CSV file (default: the terminal)", "FILE");
  predict.add_flag("--same-cluster", arguments.same_cluster,
                   "ranges for the recorded cluster again; without it for another like it, which are wider");
  add_number(predict, "--draws", arguments.draws, "of machines, rates and runs, for the ranges", 20, 100'000);
}

void add_validate(CLI::App& app, Action& action) {
  CLI::App& validate = *app.add_subcommand("validate", "measure how good predictions are");
  validate.require_subcommand(1);
  validate.footer(validate_examples);
  auto [learner, folders] = add_command<CompareLearnerArguments>(
      validate, "learner", "compare a statistical learner with real training under the same policies",
      validate_learner_command, action);
  learner.footer(validate_examples);
  learner.add_option("TRAINED", folders.trained, "results folder of the study that trained networks")
      ->required();
  learner.add_option("PREDICTED", folders.predicted, "results folder of the same study with the learner")
      ->required();
  auto [recorded, arguments] = add_command<ValidateArguments>(
      validate, "recorded", "predict every recorded run from fits that exclude it, beside null models",
      validate_recorded_command, action);
  recorded.footer(validate_examples);
  recorded.add_option("DIR", arguments.folder, "folder of recorded runs")->required();
  add_path(recorded, "-o,--output", arguments.output, "results folder", "DIR");
  add_number(recorded, "--replications", arguments.replications, "simulated runs of each setting", 2,
             100'000);
  add_jobs(recorded, arguments.jobs);
  add_path(recorded, "--joint", arguments.joint,
           "asynchronous jobs: further runs for their accuracy, as in `paceline predict`", "DIR");
  recorded.add_flag("--same-cluster", arguments.same_cluster,
                    "asynchronous jobs: ranges for the recorded cluster again");
  recorded.add_flag("!--no-figures", arguments.figures, "do not draw predicted against recorded");
  recorded.add_flag("--skip-bad", arguments.skip_bad, "go on without what is bad in the logs");
  recorded.add_flag("--force", arguments.force, "replace results that are already there");
}

void add_init(CLI::App& app, Action& action) {
  auto [init, arguments] = add_command<InitArguments>(
      app, "init", "write a first scenario or study, with comments", init_command, action);
  init.footer(init_examples);
  init.add_option("FILE", arguments.file, "to write (default: scenario.yaml, or study.yaml with --study)");
  init.add_flag("--study", arguments.study,
                "write a study too; a scenario.yaml that is already there becomes its base");
  init.add_option("--network", arguments.network, "neural network: paceline list networks")
      ->capture_default_str();
  add_path(init, "--profile", arguments.profile,
           "calibration file (default: a shipped one of the network: paceline list profiles)", "FILE");
  init.add_option("--workers", arguments.workers, "how many of how many cores")
      ->type_name("NxCORES,…")
      ->capture_default_str();
  init.add_option("--bandwidth", arguments.bandwidth, "of each worker's link")->capture_default_str();
  init.add_option("--policy", arguments.policy, "synchronization policy: paceline list policies")
      ->capture_default_str();
  init.add_option("--target", arguments.target,
                  "accuracy to reach, where a learner of the network is shipped")
      ->capture_default_str();
  add_number(init, "--epochs", arguments.epochs, "passes over the training samples, at most", 1e-3, 1e6);
  init.add_flag("--force", arguments.force, "replace files that are already there");
}

void add_list(CLI::App& app, Action& action) {
  auto [list, arguments] = add_command<ListArguments>(
      app, "list", "list what a scenario may name, and the shipped files", list_command, action);
  list.footer(list_examples);
  list.add_option("WHAT", arguments.what, fmt::format("one of {}", fmt::join(listed_things(), ", ")))
      ->required();
  list.add_option("DIR", arguments.folder,
                  "where to look for profiles or learners (default: the shipped ones)");
}

struct SchemaArguments {
  bool of_study = false;
};

int schema_command(const SchemaArguments& arguments) {
  fmt::print("{}\n", arguments.of_study ? study_schema() : scenario_schema());
  return exit_done;
}

int dispatch(int argc, char** argv) {
  if (argc > 1 && std::string_view(argv[1]) == "calibrate") exec_calibrate(argv + 1);
  CLI::App app{description, "paceline"};
  app.footer(examples);
  const BuildInfo& build = build_info();
  app.set_version_flag("--version",
                       fmt::format("paceline {} (commit {})\nSimGrid {}\nLibTorch {}\n{}", build.version,
                                   build.commit, simgrid_version(), build.libtorch, build.compiler));
  app.require_subcommand(1);
  Action action;
  auto [run, run_arguments] = add_command<RunArguments>(
      app, "run", "simulate one scenario over its replications", run_command, action);
  run.footer(run_examples);
  add_file_options(run, run_arguments, "scenario (YAML)");
  add_run_options(run, run_arguments);
  add_study(app, action);
  add_compare(app, action);
  add_search(app, action);
  auto [check, check_arguments] = add_command<RunArguments>(
      app, "check", "read a scenario or study and print every value with its origin", check_command, action);
  check.footer(check_examples);
  add_file_options(check, check_arguments, "scenario or study (YAML)");
  add_table(app, action);
  add_plot(app, action);
  add_timing(app, action);
  add_fit(app, action);
  add_predict(app, action);
  add_validate(app, action);
  add_init(app, action);
  add_list(app, action);
  auto [schema, schema_arguments] = add_command<SchemaArguments>(
      app, "schema", "print the JSON schema of scenario files, for editors", schema_command, action);
  schema.footer(schema_examples);
  schema.add_flag("--study", schema_arguments.of_study, "the schema of study files instead");
  CLI::App& reference = *app.add_subcommand("reference", "print what paceline reads and writes, as Markdown");
  reference.require_subcommand(1);
  reference.footer(reference_examples);
  using Page = std::tuple<const char*, const char*, std::string (*)()>;
  for (const auto& [name, help, text] :
       {Page{"results", "every result file and column, with unit and meaning", results_reference},
        Page{"scenario", "every key of scenario files, with unit, default and meaning", scenario_reference},
        Page{"study", "every key of study files", study_reference}})
    reference.add_subcommand(name, help)->footer(reference_examples)->callback([&action, print = text] {
      action = [print] {
        fmt::print("{}", print());
        return exit_done;
      };
    });
  app.add_subcommand("calibrate", "measure how long a network takes on this machine (see calibrate --help)");
  CLI::App& completion = *app.add_subcommand("completion", "print the completion script for bash");
  completion.footer(completion_examples);
  completion.callback([&] {
    action = [&] {
      fmt::print("{}", bash_completion(app));
      return exit_done;
    };
  });
  std::vector<std::string> topic;
  CLI::App& help = *app.add_subcommand("help", "what a command does, with examples");
  help.footer("Examples:\n  paceline help run\n  paceline help validate recorded");
  help.add_option("COMMAND", topic, "a command, and one of its own if it has any");
  help.callback([&] {
    action = [&] {
      if (!topic.empty() && topic.front() == "calibrate")
        exec_calibrate(topic.size() > 1 ? std::vector<std::string>{topic[1], "--help"}
                                        : std::vector<std::string>{"--help"});
      fmt::print("{}", help_of(app, topic));
      return exit_done;
    };
  });
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
    paceline::print_messages(error.what());
    return paceline::exit_user_error;
  } catch (const std::exception& error) {
    paceline::print_messages(fmt::format("error: {}\n", error.what()));
    return paceline::exit_simulation_failed;
  }
}

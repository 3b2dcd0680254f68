// fit, predict and validate, carried out by calibrate/.
#include <fmt/format.h>

#include "calibrate/asynchronous/predict_command.hpp"
#include "calibrate/learning/fit_command.hpp"
#include "calibrate/validation/live_command.hpp"
#include "calibrate/validation/validate_command.hpp"
#include "sim/cli/options.hpp"

namespace paceline {
namespace {

constexpr const char* fit_examples = R"(Examples:
  paceline fit logs.yaml -o learner.json
  paceline fit recorded/ --policy bsp --policy asp --bootstrap 0 -o learner.json)";

constexpr const char* predict_examples = R"(Examples:
  paceline predict configurations.csv --records recorded/ -o predicted.csv
  paceline predict configurations.csv --records recorded/ --same-cluster    for these machines again: narrower
  paceline validate predictions predicted.csv --records recorded/           once the jobs have run

A row of CONFIGURATIONS: v100x4-1ps, k80x2+p100x1-1ps, speed/resnet15/p100x3-1ps
What cannot be predicted from the records has empty fields, and says why in `note`.)";

constexpr const char* validate_examples = R"(Examples:
  paceline validate recorded recorded/ -o results/validation
  paceline validate learner results/trained results/predicted
  paceline validate predictions predicted.csv --records recorded/
  paceline validate live scenarios/validation/*-two-speeds.yaml --set job.profile=profile.json -o results/live
                                                     give it again after an interruption: runs are kept)";

int fit_command(const FitArguments& arguments) {
  std::string command = fmt::format("paceline fit {}", shell_quoted(arguments.logs));
  if (!arguments.campaign.empty()) command += fmt::format(" --campaign {}", shell_quoted(arguments.campaign));
  for (const std::string& policy : arguments.policies)
    command += fmt::format(" --policy {}", shell_quoted(policy));
  if (arguments.form != FitArguments{}.form)
    command += fmt::format(" --form {}", shell_quoted(arguments.form));
  command += fmt::format(" --bootstrap {}", arguments.bootstrap);
  if (arguments.skip_bad) command += " --skip-bad";
  fit_logs(arguments, command);
  return exit_done;
}

int predict_command(const PredictArguments& arguments) {
  predict_configurations(arguments);
  return exit_done;
}

int validate_learner_command(const CompareLearnerArguments& arguments) {
  validate_learner(arguments);
  return exit_done;
}

int validate_predictions_command(const ScorePredictionsArguments& arguments) {
  validate_predictions(arguments);
  return exit_done;
}

int validate_recorded_command(const ValidateArguments& arguments) {
  validate_recorded_folder(arguments,
                           fmt::format("paceline validate recorded {}", shell_quoted(arguments.folder)));
  return exit_done;
}

}  // namespace

void add_fit(CLI::App& app, CommandAction& action) {
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
  add_number(
      fit, "--bootstrap", arguments.bootstrap,
      "refits to policies and runs drawn again: members of the learner, of which each simulated run draws "
      "one; 0 for none",
      0, 10'000);
  fit.add_flag("!--no-figures", arguments.figures, "do not draw the residuals");
  fit.add_flag("--skip-bad", arguments.skip_bad, "go on without what is bad in the logs");
  fit.add_flag("--force", arguments.force, "replace a learner that is already there");
}

void add_predict(CLI::App& app, CommandAction& action) {
  auto [predict, arguments] = add_command<PredictArguments>(
      app, "predict", "predict asynchronous jobs and exchanges from recorded ones of other configurations",
      predict_command, action);
  predict
      .add_option(
          "CONFIGURATIONS", arguments.file,
          "CSV file with a column `configuration`; `joins` and `leaves` say which workers come later or "
          "go earlier, `2@600 3@1800` for worker 2 after 600 s (in the order of the name, 0 is the chief)")
      ->required();
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
  predict.add_flag("--force", arguments.force, "replace a file that is already there");
  predict.footer(predict_examples);
}

// Without what cannot change a prediction.
int validate_live_command(const ValidateLiveArguments& arguments) {
  std::string command = "paceline validate live";
  for (const std::string& file : arguments.files) command += " " + shell_quoted(file);
  for (const std::string& assignment : arguments.overrides)
    command += fmt::format(" --set {}", shell_quoted(assignment));
  command += fmt::format(" --runs {}", arguments.runs);
  command += fmt::format(" --most-deviation {:g}", arguments.most_deviation);
  if (arguments.accept_load) command += " --accept-load";
  if (arguments.as_it_is) command += " --as-it-is";
  if (arguments.replications > 0) command += fmt::format(" --replications {}", arguments.replications);
  return validate_live(arguments, command) ? exit_done : exit_simulation_failed;
}

void add_validate_live(CLI::App& validate, CommandAction& action) {
  auto [live, arguments] = add_command<ValidateLiveArguments>(
      validate, "live", "predict jobs, seal the prediction, carry them out for real, compare",
      validate_live_command, action);
  live.footer(validate_examples);
  live.add_option("FILE", arguments.files, "scenarios that `paceline live` can carry out")->required();
  add_list(live, "--set", arguments.overrides, "override a value in each of them (repeatable)",
           "KEY.PATH=VALUE");
  add_path(live, "-o,--output", arguments.output, "results folder", "DIR");
  add_number(live, "--runs", arguments.runs, "real ones of each scenario, taken in turn", 1, 1000);
  add_number(live, "--replications", arguments.replications,
             "simulated ones of each scenario; 0: as many as it says, and at least 20", 0, 100'000);
  add_number(live, "--patience", arguments.patience,
             "seconds after which a worker that owes something and says nothing is given up", 0.1, 1e6);
  add_jobs(live, arguments.jobs);
  add_number(
      live, "--most-deviation", arguments.most_deviation,
      "share by which a worker's iterations may differ from its profile's, and before each run from those "
      "predicted with",
      0.01, 100.0);
  add_number(
      live, "--wait", arguments.wait,
      "seconds for each measurement and each run in which a machine that is slower or faster may become as "
      "fast as it mostly was at first, within 10 %; both are repeated where it changed meanwhile",
      0.0, 1e6);
  live.add_flag("--accept-load", arguments.accept_load,
                "begin although other programs use the machine, or its speeds deviate; results say so");
  add_as_it_is(live, arguments.as_it_is);
  live.add_flag("!--no-figures", arguments.figures, "do not draw predicted against real");
  live.add_flag("--force", arguments.force,
                "replace results that are already there, and begin an interrupted validation anew");
}

void add_validate(CLI::App& app, CommandAction& action) {
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
  auto [predictions, scored] = add_command<ScorePredictionsArguments>(
      validate, "predictions", "score a file of `paceline predict` against recorded asynchronous jobs",
      validate_predictions_command, action);
  predictions.footer(validate_examples);
  predictions.add_option("FILE", scored.predictions, "CSV file, as `paceline predict` writes it")->required();
  predictions
      .add_option("--records", scored.records,
                  "folder of the recorded jobs; those of one worker are null models")
      ->required()
      ->type_name("DIR");
  add_validate_live(validate, action);
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
                    "ranges for the recorded cluster again; without it for another like it, which are wider");
  recorded.add_flag("!--no-simulation", arguments.simulates,
                    "replay updates only, and time them by the steps of the fitted runs: quick");
  add_path(recorded, "--learners", arguments.learners,
           "folder `learners` of an earlier validation of the same runs: those fits are not made again",
           "DIR");
  add_number(recorded, "--members", arguments.members, "refits behind the ranges of each fold", 2, 10'000);
  recorded.add_flag("!--no-figures", arguments.figures, "do not draw predicted against recorded");
  recorded.add_flag("--skip-bad", arguments.skip_bad, "go on without what is bad in the logs");
  recorded.add_flag("--force", arguments.force, "replace results that are already there");
}

}  // namespace paceline

// `paceline calibrate from-log`: what a synchronous step is made of, from recorded step times.
#include <algorithm>
#include <filesystem>
#include <map>

#include <CLI/CLI.hpp>
#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "calibrate/cli/commands.hpp"
#include "calibrate/logs/statistics.hpp"
#include "calibrate/logs/step_model.hpp"
#include "calibrate/logs/switch_log.hpp"
#include "sim/base/atomic_file.hpp"
#include "sim/base/diagnostic.hpp"
#include "sim/base/order_statistics.hpp"

namespace paceline::calibrate {
namespace {

namespace fs = std::filesystem;
using Json = nlohmann::ordered_json;

struct FromLogOptions {
  std::string folder;
  std::vector<std::string> asp;
  std::vector<std::string> bsp;
  int workers = 0;
  std::string time_column = "wall_time_s";
  std::string step_column = "step";
  int predict_workers = 0;
  std::vector<std::string> against;
  std::vector<std::string> against_asp;
  double recorded_asp_step_s = 0.0;
  std::string phases;
  double sleep_s = 0.0;
  std::string output;
  bool force = false;
  bool json = false;
  bool only_help = false;
};

// FOLDER/PROTOCOL/run*/loss.csv, in the order of the names.
std::vector<std::string> recorded_logs(const fs::path& folder, const std::string& protocol) {
  std::vector<std::string> logs;
  std::error_code failure;
  for (const fs::directory_entry& run : fs::directory_iterator(folder / protocol, failure))
    if (fs::exists(run.path() / "loss.csv")) logs.push_back((run.path() / "loss.csv").string());
  std::ranges::sort(logs);
  if (logs.empty())
    throw UserError(fmt::format("{}: there is no {}/run*/loss.csv", folder.string(), protocol),
                    "name the files with --asp and --bsp");
  return logs;
}

RecordedRuns read_runs(const std::vector<std::string>& logs, int workers, const FromLogOptions& options) {
  RecordedRuns runs{workers, {}};
  for (const std::string& log : logs)
    runs.runs.push_back(step_times(read_step_log(log, options.time_column, options.step_column)));
  return runs;
}

void add_options(CLI::App& app, FromLogOptions& options) {
  app.add_option("FOLDER", options.folder, "Folder with asp/run*/loss.csv and bsp/run*/loss.csv");
  app.add_option("--asp", options.asp, "Logs of asynchronous runs: one step is one mini-batch of one worker")
      ->type_name("CSV");
  app.add_option("--bsp", options.bsp, "Logs of synchronous runs: one step is one mini-batch of every worker")
      ->type_name("CSV");
  app.add_option("--workers", options.workers, "Workers of these runs")
      ->required()
      ->check(CLI::Range(2, 100000));
  app.add_option("--time-column", options.time_column, "Column of the time, in seconds")
      ->capture_default_str();
  app.add_option("--step-column", options.step_column, "Column of the step")->capture_default_str();
  app.add_option("--predict", options.predict_workers, "Predict the steps of this many workers")
      ->check(CLI::Range(2, 100000))
      ->type_name("WORKERS");
  app.add_option("--against", options.against, "Synchronous logs of that many workers, to compare with")
      ->type_name("CSV");
  app.add_option("--against-asp", options.against_asp, "Asynchronous logs of that many workers")
      ->type_name("CSV");
  app.add_option("--recorded-asp-step", options.recorded_asp_step_s,
                 "Seconds per mini-batch of that many asynchronous workers, where only the figure is known")
      ->check(CLI::PositiveNumber)
      ->type_name("SECONDS");
  app.add_option("--phases", options.phases,
                 "Table of recorded phases, for the cost of a switch (default: phases.csv beside FOLDER)")
      ->type_name("CSV");
  app.add_option("--sleep", options.sleep_s, "Fixed sleep inside the recorded gap of a switch")
      ->check(CLI::NonNegativeNumber)
      ->type_name("SECONDS")
      ->capture_default_str();
  app.add_option("-o,--output", options.output, "Write the fitted costs as JSON")->type_name("FILE");
  app.add_flag("--force", options.force, "Replace the file");
  app.add_flag("--json", options.json, "Print for machines");
  app.footer(
      "Example:\n  paceline calibrate from-log recorded/resnet32-cifar10-8 --workers 8 --predict 16 \\\n"
      "      --against recorded/resnet32-cifar10-16/bsp/run*/loss.csv --sleep 90");
}

Json runs_json(const RecordedRuns& runs) {
  Json entries = Json::array();
  for (const StepTimes& run : runs.runs)
    entries.push_back(
        {{"step_s", run.step_s},
         {"relative_sd", run.relative_sd},
         {"mean_step_with_pauses_s", run.mean_step_s()},
         {"pauses", run.pauses_s.size()},
         {"median_pause_s", run.pauses_s.empty() ? Json(nullptr) : Json(median(run.pauses_s))}});
  return entries;
}

struct Prediction {
  std::string model;
  double step_s = 0.0;
  std::optional<double> relative_error = std::nullopt;
};

void compare_with(std::optional<double> recorded, std::vector<Prediction>& predictions) {
  if (!recorded) return;
  for (Prediction& prediction : predictions) prediction.relative_error = prediction.step_s / *recorded - 1.0;
  predictions.push_back({"recorded", *recorded});
}

std::vector<Prediction> predict_bsp(const StepModel& model, const RecordedRuns& bsp,
                                    const FromLogOptions& options) {
  std::vector<Prediction> predictions = {
      {"parallel + serial", model.bsp_step_s(options.predict_workers)},
      {"null: the same step", bsp.step_s()},
      {"null: ring all-reduce", ring_null_step_s(model, bsp, options.predict_workers)}};
  std::optional<double> recorded;
  if (!options.against.empty())
    recorded = read_runs(options.against, options.predict_workers, options).step_s();
  compare_with(recorded, predictions);
  return predictions;
}

std::vector<Prediction> predict_asp(const StepModel& model, const RecordedRuns& asp,
                                    const FromLogOptions& options) {
  std::vector<Prediction> predictions = {{"parallel", model.asp_step_s(options.predict_workers)},
                                         {"null: the same step", asp.step_s()}};
  std::optional<double> recorded;
  if (options.recorded_asp_step_s > 0.0) recorded = options.recorded_asp_step_s;
  if (!options.against_asp.empty())
    recorded = read_runs(options.against_asp, options.predict_workers, options).step_s();
  compare_with(recorded, predictions);
  return predictions;
}

// Adds the predictions of one protocol to what is printed and to what is written.
void report(const char* protocol, const std::vector<Prediction>& predictions, int workers, std::string& text,
            Json& result) {
  text += fmt::format("\n{} step of {} workers, between pauses:\n", protocol, workers);
  for (const Prediction& prediction : predictions) {
    const bool compared = prediction.relative_error.has_value();
    text += fmt::format("  {:<22} {:>7.4g} s{}\n", prediction.model, prediction.step_s,
                        compared ? fmt::format("  {:+.1f} %", 100.0 * *prediction.relative_error) : "");
    result["predictions"].push_back(
        {{"protocol", protocol},
         {"model", prediction.model},
         {"workers", workers},
         {"step_s", prediction.step_s},
         {"relative_error", compared ? Json(*prediction.relative_error) : Json(nullptr)}});
  }
}

// Recorded switches of this setup, if there is a table of them.
std::optional<SwitchGaps> switch_gaps(const FromLogOptions& options) {
  if (options.folder.empty()) return std::nullopt;
  const fs::path folder = fs::path(options.folder).lexically_normal();
  const fs::path of_setup = folder.has_filename() ? folder : folder.parent_path();
  const fs::path phases =
      options.phases.empty() ? of_setup.parent_path() / "phases.csv" : fs::path(options.phases);
  if (options.phases.empty() && !fs::exists(phases)) return std::nullopt;
  SwitchGaps gaps = read_switch_gaps(phases, of_setup.filename().string(), options.sleep_s);
  if (gaps.gaps_s.empty()) return std::nullopt;
  return gaps;
}

std::string switch_text(const SwitchGaps& gaps) {
  return fmt::format(
      "a switch: {:.4g} s besides a sleep of {:g} s (recorded gaps: {}, from {:.4g} to {:.4g} s)\n"
      "in a phase: switch_cost: {:.4g} s, switch_sleep: {:g} s\n",
      gaps.cost_s(), gaps.sleep_s, gaps.gaps_s.size(), std::ranges::min(gaps.gaps_s),
      std::ranges::max(gaps.gaps_s), gaps.cost_s(), gaps.sleep_s);
}

std::string runs_text(const char* protocol, const RecordedRuns& runs) {
  std::string text;
  for (const StepTimes& run : runs.runs)
    text +=
        fmt::format("  {} run: {:.4g} s a step between pauses (sd {:.1f} %), {:.4g} s with {} pauses{}\n",
                    protocol, run.step_s, 100.0 * run.relative_sd, run.mean_step_s(), run.pauses_s.size(),
                    run.pauses_s.empty() ? std::string() : fmt::format(" of {:.3g} s", median(run.pauses_s)));
  return text;
}

FromLogOptions parse(const std::vector<std::string>& arguments) {
  FromLogOptions options;
  CLI::App app("Fits the parallel and the serial part of a synchronous step from recorded step times.",
               "paceline calibrate from-log");
  add_options(app, options);
  try {
    app.parse(std::vector<std::string>(arguments.rbegin(), arguments.rend()));
  } catch (const CLI::CallForHelp&) {
    fmt::print("{}\n", app.help());
    options.only_help = true;
    return options;
  } catch (const CLI::ParseError& error) {
    throw UserError(error.what(), "`paceline calibrate from-log --help`");
  }
  if (!options.folder.empty()) {
    options.asp = recorded_logs(options.folder, "asp");
    options.bsp = recorded_logs(options.folder, "bsp");
  }
  if (options.asp.empty() || options.bsp.empty())
    throw UserError("logs of asynchronous and of synchronous runs are needed",
                    "name a folder, or the files with --asp and --bsp");
  if (!options.output.empty() && fs::exists(options.output) && !options.force)
    throw UserError(fmt::format("{} exists", options.output),
                    "choose another file, or replace it with --force");
  return options;
}

std::string costs_text(const StepModel& model, const RecordedRuns& bsp) {
  std::string text = fmt::format(
      "an iteration of one worker: {:.4g} s (parallel)\nserial part of a BSP step: {:.4g} s + {:.4g} s a "
      "worker\n"
      "in a scenario: coordination: {{per_step: {:.4g} s, per_worker: {:.4g} s}}\n",
      model.parallel_s, model.serial_fixed_s, model.serial_per_worker_s, model.serial_fixed_s,
      model.serial_per_worker_s);
  if (bsp.steps_between_pauses() > 0.0)
    text += fmt::format(
        "a pause: {:.4g} s, about every {:.0f} BSP steps\n"
        "in a scenario: checkpoints: {{every: {:.0f} updates, cost: {:.4g} s}}\n",
        bsp.pause_s(), bsp.steps_between_pauses(), bsp.steps_between_pauses(), bsp.pause_s());
  return text;
}

}  // namespace

int from_log_command(const std::vector<std::string>& arguments) {
  const FromLogOptions options = parse(arguments);
  if (options.only_help) return exit_done;
  const RecordedRuns asp = read_runs(options.asp, options.workers, options);
  const RecordedRuns bsp = read_runs(options.bsp, options.workers, options);
  const StepModel model = fit_step_model(asp, {bsp});
  Json result = {{"format", "paceline-step-model"},
                 {"version", 1},
                 {"workers", options.workers},
                 {"parallel_s", model.parallel_s},
                 {"serial_fixed_s", model.serial_fixed_s},
                 {"serial_per_worker_s", model.serial_per_worker_s},
                 {"pause_s", bsp.pause_s()},
                 {"steps_between_pauses", bsp.steps_between_pauses()},
                 {"asp", runs_json(asp)},
                 {"bsp", runs_json(bsp)},
                 {"predictions", Json::array()}};
  std::string text = runs_text("ASP", asp) + runs_text("BSP", bsp) + costs_text(model, bsp);
  if (const std::optional<SwitchGaps> gaps = switch_gaps(options)) {
    text += switch_text(*gaps);
    result["switch"] = {{"cost_s", gaps->cost_s()}, {"sleep_s", gaps->sleep_s}, {"gaps_s", gaps->gaps_s}};
  }
  if (options.predict_workers > 0) {
    report("BSP", predict_bsp(model, bsp, options), options.predict_workers, text, result);
    report("ASP", predict_asp(model, asp, options), options.predict_workers, text, result);
  }
  if (!options.output.empty()) write_file_atomically(options.output, result.dump(2) + "\n");
  fmt::print("{}", options.json ? result.dump(2) + "\n" : text);
  return exit_done;
}

}  // namespace paceline::calibrate

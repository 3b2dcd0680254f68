// `paceline calibrate from-log`: what a synchronous step is made of, from recorded step times.
#include <algorithm>
#include <filesystem>

#include <fmt/format.h>

#include "calibrate/cli/commands.hpp"
#include "calibrate/logs/recorded_times.hpp"
#include "calibrate/logs/step_model.hpp"
#include "sim/base/diagnostic.hpp"
#include "sim/base/json.hpp"
#include "sim/base/order_statistics.hpp"

namespace paceline::calibrate {
namespace {

namespace fs = std::filesystem;
using Json = nlohmann::ordered_json;

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

RecordedRuns read_runs(const std::vector<std::string>& logs, int workers, const FromLogArguments& arguments) {
  RecordedRuns runs{workers, {}};
  for (const std::string& log : logs)
    runs.runs.push_back(step_times(read_step_log(log, arguments.time_column, arguments.step_column)));
  return runs;
}

// What is printed and what is written, side by side.
struct Report {
  std::string text;
  Json json;

  void add_runs(const char* protocol, const char* key, const RecordedRuns& runs) {
    json[key] = Json::array();
    for (const StepTimes& run : runs.runs) {
      const Json pause_s = run.pauses_s.empty() ? Json(nullptr) : Json(median(run.pauses_s));
      text +=
          fmt::format("  {} run: {:.4g} s a step between pauses (sd {:.1f} %), {:.4g} s with {} pauses{}\n",
                      protocol, run.step_s, 100.0 * run.relative_sd, run.mean_step_s(), run.pauses_s.size(),
                      pause_s.is_null() ? "" : fmt::format(" of {:.3g} s", pause_s.get<double>()));
      json[key].push_back({{"step_s", run.step_s},
                           {"relative_sd", run.relative_sd},
                           {"mean_step_with_pauses_s", run.mean_step_s()},
                           {"pauses", run.pauses_s.size()},
                           {"median_pause_s", pause_s}});
    }
  }

  // The steps of one protocol by several models, with their errors where it was recorded.
  void add_predictions(const char* protocol, int workers, std::vector<std::pair<std::string, double>> steps,
                       std::optional<double> recorded_s) {
    text += fmt::format("\n{} step of {} workers, between pauses:\n", protocol, workers);
    if (recorded_s) steps.emplace_back("recorded", *recorded_s);
    for (const auto& [model, step_s] : steps) {
      std::optional<double> error;
      if (recorded_s && model != "recorded") error = step_s / *recorded_s - 1.0;
      text += fmt::format("  {:<22} {:>7.4g} s{}\n", model, step_s,
                          error ? fmt::format("  {:+.1f} %", 100.0 * *error) : "");
      json["predictions"].push_back({{"protocol", protocol},
                                     {"model", model},
                                     {"workers", workers},
                                     {"step_s", step_s},
                                     {"relative_error", error}});
    }
  }
};

void predict(const StepModel& model, const RecordedRuns& asp, const RecordedRuns& bsp,
             const FromLogArguments& arguments, Report& report) {
  const int workers = arguments.predict_workers;
  const auto recorded = [&](const std::vector<std::string>& logs, std::optional<double> otherwise) {
    return logs.empty() ? otherwise : read_runs(logs, workers, arguments).step_s();
  };
  report.add_predictions("BSP", workers,
                         {{"parallel + serial", model.bsp_step_s(workers)},
                          {"null: the same step", bsp.step_s()},
                          {"null: ring all-reduce", ring_null_step_s(model, bsp, workers)}},
                         recorded(arguments.against, std::nullopt));
  report.add_predictions("ASP", workers,
                         {{"parallel", model.asp_step_s(workers)}, {"null: the same step", asp.step_s()}},
                         recorded(arguments.against_asp, arguments.recorded_asp_step_s));
}

// Recorded switches of this setup, if there is a table of them.
std::optional<SwitchGaps> switch_gaps(const FromLogArguments& arguments) {
  if (arguments.folder.empty()) return std::nullopt;
  const fs::path folder = fs::path(arguments.folder).lexically_normal();
  const fs::path of_setup = folder.has_filename() ? folder : folder.parent_path();
  const fs::path phases =
      arguments.phases.empty() ? of_setup.parent_path() / "phases.csv" : fs::path(arguments.phases);
  if (arguments.phases.empty() && !fs::exists(phases)) return std::nullopt;
  SwitchGaps gaps = read_switch_gaps(phases, of_setup.filename().string(), arguments.sleep_s);
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

int run(const FromLogArguments& arguments) {
  const bool in_folder = !arguments.folder.empty();
  const std::vector<std::string> asp_logs =
      in_folder ? recorded_logs(arguments.folder, "asp") : arguments.asp;
  const std::vector<std::string> bsp_logs =
      in_folder ? recorded_logs(arguments.folder, "bsp") : arguments.bsp;
  if (asp_logs.empty() || bsp_logs.empty())
    throw UserError("logs of asynchronous and of synchronous runs are needed",
                    "name a folder, or the files with --asp and --bsp");
  const RecordedRuns asp = read_runs(asp_logs, arguments.workers, arguments);
  const RecordedRuns bsp = read_runs(bsp_logs, arguments.workers, arguments);
  const StepModel model = fit_step_model(asp, {bsp});
  Report report{"",
                {{"format", "paceline-step-model"},
                 {"version", 1},
                 {"workers", arguments.workers},
                 {"parallel_s", model.parallel_s},
                 {"serial_fixed_s", model.serial_fixed_s},
                 {"serial_per_worker_s", model.serial_per_worker_s},
                 {"pause_s", bsp.pause_s()},
                 {"steps_between_pauses", bsp.steps_between_pauses()}}};
  report.add_runs("ASP", "asp", asp);
  report.add_runs("BSP", "bsp", bsp);
  report.json["predictions"] = Json::array();
  report.text += costs_text(model, bsp);
  if (const std::optional<SwitchGaps> gaps = switch_gaps(arguments)) {
    report.text += switch_text(*gaps);
    report.json["switch"] = {
        {"cost_s", gaps->cost_s()}, {"sleep_s", gaps->sleep_s}, {"gaps_s", gaps->gaps_s}};
  }
  if (arguments.predict_workers > 0) predict(model, asp, bsp, arguments, report);
  fmt::print("{}", arguments.json ? report.json.dump(2) + "\n" : report.text);
  return exit_done;
}

}  // namespace paceline::calibrate

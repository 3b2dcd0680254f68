// fit: a statistical learner from recorded curves, with its intervals, errors and residuals.
#include <algorithm>
#include <filesystem>
#include <utility>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "calibrate/learning/fit_report.hpp"
#include "calibrate/learning/logs_file.hpp"
#include "calibrate/learning/recorded_layout.hpp"
#include "calibrate/learning/scatter_figure.hpp"
#include "sim/base/atomic_file.hpp"
#include "sim/base/diagnostic.hpp"
#include "sim/base/progress.hpp"
#include "sim/cli/commands.hpp"

namespace paceline {
namespace {

namespace fs = std::filesystem;

TrainingLogs campaign_of(const FitArguments& arguments) {
  const RecordedRuns recorded = read_recorded_runs(arguments.logs, arguments.skip_bad);
  std::vector<std::string> names;
  for (const Campaign& campaign : recorded.campaigns) {
    names.push_back(fmt::format("\"{}\"", campaign.name));
    if (campaign.name == arguments.campaign) return {campaign.name, campaign.groups, recorded.notes};
  }
  throw UserError(arguments.campaign.empty() ? fmt::format("{} holds several campaigns", arguments.logs)
                                             : fmt::format("there is no campaign \"{}\"", arguments.campaign),
                  fmt::format("--campaign {}", fmt::join(names, " or ")));
}

// All, if none is named.
void keep_policies(std::vector<RunGroup>& groups, const std::vector<std::string>& policies) {
  if (policies.empty()) return;
  std::vector<std::string> known;
  for (const RunGroup& group : groups) known.push_back(policy_of(group.name));
  for (const std::string& policy : policies)
    if (std::find(known.begin(), known.end(), policy) == known.end())
      throw UserError(fmt::format("no runs of `{}`", policy),
                      fmt::format("there are {}", fmt::join(known, ", ")));
  std::erase_if(groups, [&](const RunGroup& group) {
    return std::find(policies.begin(), policies.end(), policy_of(group.name)) == policies.end();
  });
}

TrainingLogs read_logs(const FitArguments& arguments) {
  TrainingLogs logs = fs::is_directory(arguments.logs) ? campaign_of(arguments)
                                                       : read_logs_file(arguments.logs, arguments.skip_bad);
  keep_policies(logs.groups, arguments.policies);
  return logs;
}

const FormDescription& form_of(const std::string& name) {
  if (const FormDescription* form = find_form(name)) return *form;
  std::vector<std::string_view> names;
  for (const FormDescription& form : learning_forms()) names.push_back(form.name);
  throw UserError(fmt::format("there is no form `{}`", name),
                  fmt::format("there are {}", fmt::join(names, ", ")));
}

std::string command_of(const FitArguments& arguments) {
  std::string command = fmt::format("paceline fit {}", shell_quoted(arguments.logs));
  if (!arguments.campaign.empty()) command += fmt::format(" --campaign {}", shell_quoted(arguments.campaign));
  for (const std::string& policy : arguments.policies)
    command += fmt::format(" --policy {}", shell_quoted(policy));
  if (arguments.form != "relaxation") command += fmt::format(" --form {}", shell_quoted(arguments.form));
  command += fmt::format(" --bootstrap {}", arguments.bootstrap);
  if (arguments.skip_bad) command += " --skip-bad";
  return command;
}

void print_report(const FitReport& report) {
  fmt::print("{:<22} {:>12}  {}\n", "parameter", "value", "90 % interval");
  for (std::size_t i = 0; i < report.model.values.size(); ++i) {
    fmt::print("{:<22} {:>12.5g}", report.model.form->parameters[i].name, report.model.values[i]);
    if (report.intervals.empty())
      fmt::print("\n");
    else
      fmt::print("  {:.4g} … {:.4g}\n", report.intervals[i].low, report.intervals[i].high);
  }
  fmt::print("spread of runs: ceiling {:.4f}, staleness penalty {:.2f}, speed {:.2f}\n", report.model.spread.ceiling,
             report.model.spread.staleness_penalty, report.model.spread.speed);
  if (report.left_out.empty()) {
    fmt::print("no group could be left out: fewer than three\n");
    return;
  }
  fmt::print("\nfinal accuracy, each policy left out in turn\n{:<44} {:>3} {:>9} {:>9} {:>8} {:>12} {:>8}\n",
             "group", "n", "predicted", "recorded", "error", "null: first", "linear");
  const auto text = [](const std::optional<double>& value, const char* format) {
    return value ? fmt::format(fmt::runtime(format), *value) : std::string("-");
  };
  for (const HeldOutRow& row : report.left_out) {
    if (row.quantity != HeldOutQuantity::final_accuracy) continue;
    fmt::print("{:<44} {:>3} {:>9} {:>9} {:>8} {:>12} {:>8}\n", row.group, row.runs,
               text(row.predicted, "{:.4f}"), text(row.recorded, "{:.4f}"),
               text(error_of(row, row.predicted), "{:+.4f}"), text(error_of(row, row.null_first), "{:+.4f}"),
               text(error_of(row, row.null_linear), "{:+.4f}"));
  }
}

void draw_residuals(const FitReport& report, const fs::path& output, const std::string& command) {
  ScatterFigure figure{output.stem().string() + "-residuals",
                       "progress (share of the workload)",
                       "predicted - recorded accuracy",
                       false,
                       {},
                       "mean run against every evaluation fitted"};
  for (const Residual& residual : report.residuals) {
    const std::string group = residual.run.substr(0, residual.run.rfind('/'));
    if (figure.series.empty() || figure.series.back().name != group) figure.series.push_back({group, {}});
    figure.series.back().points.push_back({residual.progress, residual.predicted - residual.recorded});
  }
  const fs::path folder = output.has_parent_path() ? output.parent_path() : fs::path(".");
  draw_scatter(figure, folder, command);
}

}  // namespace

int fit_command(const FitArguments& arguments) {
  const fs::path output = arguments.output;
  if (fs::exists(output) && !arguments.force)
    throw UserError(fmt::format("{} exists", arguments.output), "--force replaces it");
  const TrainingLogs logs = read_logs(arguments);
  for (const std::string& note : logs.notes) fmt::print(stderr, "skipped: {}\n", note);
  FitRequest request;
  request.name = arguments.name.empty() ? logs.name : arguments.name;
  request.form = &form_of(arguments.form);
  request.bootstrap = arguments.bootstrap;
  Progress progress("fitting");
  const FitReport report =
      fit_and_report(logs.groups, request, [&](double share) { progress.update(share, request.name); });
  const std::string command = command_of(arguments);
  write_file_atomically(output, fit_report_json(report, command));
  fs::path residuals = output;
  write_file_atomically(residuals.replace_filename(output.stem().string() + "-residuals.csv"),
                        residuals_csv(report));
  if (arguments.figures) draw_residuals(report, output, command);
  print_report(report);
  fmt::print("\nlearner: {}\n", output.string());
  return exit_done;
}

}  // namespace paceline

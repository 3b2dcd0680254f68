#include "calibrate/learning/fit_command.hpp"

#include <algorithm>
#include <filesystem>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "calibrate/learning/fit_report.hpp"
#include "calibrate/learning/logs_file.hpp"
#include "calibrate/learning/recorded_layout.hpp"
#include "plots/figures/figures.hpp"
#include "sim/base/atomic_file.hpp"
#include "sim/base/diagnostic.hpp"
#include "sim/base/progress.hpp"

namespace paceline {
namespace {

namespace fs = std::filesystem;

TrainingLogs campaign_of(const FitArguments& arguments) {
  const RecordedRuns recorded = read_recorded_runs(arguments.logs, arguments.skip_bad);
  std::vector<std::string> names;
  for (const Campaign& campaign : recorded.campaigns) {
    names.push_back(fmt::format("\"{}\"", campaign.name));
    if (campaign.name == arguments.campaign)
      return {campaign.name, campaign.identity, campaign.groups, recorded.notes};
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
    if (std::ranges::find(known, policy) == known.end())
      throw UserError(fmt::format("no runs of `{}`", policy),
                      fmt::format("there are {}", fmt::join(known, ", ")));
  std::erase_if(groups, [&](const RunGroup& group) {
    return std::ranges::find(policies, policy_of(group.name)) == policies.end();
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
  throw UserError(fmt::format("there is no form `{}`", name), fmt::format("there are {}", form_names()));
}

void print_parameters(const FitReport& report) {
  fmt::print("{:<26} {:>12}  {:<24} {}\n", "parameter", "value", "90 % interval", "meaning");
  for (std::size_t i = 0; i < report.model.values.size(); ++i) {
    const FormParameter& parameter = report.model.form->parameters[i];
    const std::string interval =
        report.intervals.empty()
            ? "-"
            : fmt::format("{:.4g} … {:.4g}", report.intervals[i].low, report.intervals[i].high);
    fmt::print("{:<26} {:>12.5g}  {:<24} {}\n", parameter.name, report.model.values[i], interval,
               parameter.meaning);
  }
  const RunSpread& spread = report.model.spread;
  fmt::print("spread of runs: ceiling {:.4f}, staleness penalty {:.2f}, speed {:.2f}\n", spread.ceiling,
             spread.staleness_penalty, spread.speed);
}

void print_model_error(const FitReport& report) {
  if (const std::optional<ModelError>& error = report.model.model_error)
    fmt::print("error on policies not fitted: final accuracy {:.4f}, ln(speed) {:.2f}, ln(noise) {:.2f}\n",
               error->final_accuracy, error->speed, error->noise);
  else
    fmt::print(
        "error on policies not fitted: unknown, ranges leave it out; three policies that some refits "
        "do not see would tell it\n");
}

void print_left_out(const FitReport& report) {
  if (report.left_out.empty()) {
    fmt::print("no group could be left out: fewer than three\n");
    return;
  }
  fmt::print("\nfinal accuracy, each policy left out in turn\n{:<44} {:>3} {:>9} {:>9} {:>8} {:>12} {:>8}\n",
             "group", "n", "predicted", "recorded", "error", "null: first", "linear");
  for (const HeldOutRow& row : report.left_out)
    if (row.quantity == HeldOutQuantity::final_accuracy)
      fmt::print("{:<44} {:>3} {:>9} {:>9} {:>8} {:>12} {:>8}\n", row.group, row.runs,
                 value_text(row.predicted, row.quantity), value_text(row.recorded, row.quantity),
                 error_text(row, row.predicted), error_text(row, row.null_first),
                 error_text(row, row.null_linear));
}

void draw_residuals(const FitReport& report, const fs::path& output, const std::string& command) {
  plots::Scatter scatter{.name = output.stem().string() + "-residuals",
                         .x_title = "progress (share of the workload)",
                         .y_title = "predicted - recorded accuracy",
                         .note = "mean run against every evaluation fitted"};
  for (const Residual& residual : report.residuals) {
    const std::string group = residual.run.substr(0, residual.run.rfind('/'));
    if (scatter.series.empty() || scatter.series.back().name != group) scatter.series.push_back({group});
    scatter.series.back().points.push_back({residual.progress, residual.predicted - residual.recorded});
  }
  plots::draw_figure(plots::scatter_figure(scatter),
                     output.has_parent_path() ? output.parent_path() : fs::path("."), command);
}

}  // namespace

void fit_logs(const FitArguments& arguments, const std::string& command) {
  const fs::path output = arguments.output;
  if (fs::exists(output) && !arguments.force)
    throw UserError(fmt::format("{} exists", arguments.output), "--force replaces it");
  const TrainingLogs logs = read_logs(arguments);
  for (const std::string& note : logs.notes) fmt::print(stderr, "skipped: {}\n", note);
  const FitRequest request{.name = arguments.name.empty() ? logs.name : arguments.name,
                           .identity = logs.identity,
                           .form = &form_of(arguments.form),
                           .bootstrap = arguments.bootstrap};
  Progress progress("fitting");
  const FitReport report =
      fit_and_report(logs.groups, request, [&](double share) { progress.update(share, request.name); });
  write_file_atomically(output, fit_report_json(report, command));
  fs::path residuals = output;
  residuals.replace_filename(output.stem().string() + "-residuals.csv");
  write_file_atomically(residuals, residuals_csv(report));
  if (arguments.figures) draw_residuals(report, output, command);
  print_parameters(report);
  print_model_error(report);
  print_left_out(report);
  fmt::print("\nlearner: {}\n", output.string());
}

}  // namespace paceline

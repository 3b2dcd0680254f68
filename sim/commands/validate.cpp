// validate recorded: every recorded run predicted from fits that exclude it, beside the null models.
#include <filesystem>
#include <string>

#include <fmt/format.h>

#include "sim/base/atomic_file.hpp"
#include "sim/base/progress.hpp"
#include "sim/commands/commands.hpp"
#include "sim/fit/recorded_validation.hpp"
#include "sim/fit/scatter_figure.hpp"
#include "sim/report/staged_folder.hpp"

namespace paceline {
namespace {

std::string number(const std::optional<double>& value, bool is_time) {
  if (!value) return "-";
  return is_time ? fmt::format("{:.0f}", *value) : fmt::format("{:.4f}", *value);
}

std::string signed_number(const std::optional<double>& error, bool relative) {
  if (!error) return "-";
  return relative ? fmt::format("{:+.1f} %", 100.0 * *error) : fmt::format("{:+.4f}", *error);
}

void print_fold(const FoldResult& fold) {
  fmt::print("\n{}\n{:<44} {:>3} {:<34} {:>10} {:>10} {:>9} {:>9} {:>9}\n", fold.name, "group", "n",
             "quantity", "predicted", "recorded", "error", "linear", "first");
  for (const HeldOutRow& row : fold.rows) {
    const bool time =
        row.quantity == HeldOutQuantity::time_to_accuracy || row.quantity == HeldOutQuantity::total_time;
    const bool relative = time || row.quantity == HeldOutQuantity::final_deviation;
    fmt::print("{:<44} {:>3} {:<34} {:>10} {:>10} {:>9} {:>9} {:>9}\n", row.group, row.runs,
               quantity_text(row), number(row.predicted, time), number(row.recorded, time),
               signed_number(error_of(row, row.predicted), relative),
               signed_number(error_of(row, row.null_linear), relative),
               signed_number(error_of(row, row.null_first), relative));
  }
  const auto mean = [&](std::optional<double> HeldOutRow::*model) {
    return mean_error(fold.rows, HeldOutQuantity::final_accuracy, std::nullopt, model);
  };
  fmt::print("mean absolute error of the final accuracy: {}; null models: linear {}, first protocol {}\n",
             number(mean(&HeldOutRow::predicted), false), number(mean(&HeldOutRow::null_linear), false),
             number(mean(&HeldOutRow::null_first), false));
}

void print_step_times(const RecordedValidation& validation) {
  if (validation.step_times.empty()) return;
  fmt::print("\nseconds per step (asynchronous: per mini-batch)\n{:<48} {:>9} {:>9} {:>8} {:>8}  from\n",
             "group", "predicted", "recorded", "error", "null");
  for (const StepTimeRow& row : validation.step_times)
    fmt::print("{:<48} {:>9.4f} {:>9.4f} {:>+6.1f} % {:>+6.1f} %  {}\n", row.group, row.predicted_s,
               row.recorded_s, 100.0 * (row.predicted_s / row.recorded_s - 1.0),
               100.0 * (row.null_s / row.recorded_s - 1.0), row.from);
}

ScatterFigure accuracy_figure_of(const RecordedValidation& validation) {
  ScatterFigure figure{"final-accuracy",
                       "recorded final accuracy",
                       "predicted final accuracy",
                       true,
                       {},
                       "each point: the mean of a group of runs, from a fit without them; line: equal"};
  for (const FoldResult& fold : validation.folds) {
    const std::string campaign = fold.name.substr(0, fold.name.find(": "));
    if (figure.series.empty() || figure.series.back().name != campaign)
      figure.series.push_back({campaign, {}});
    for (const HeldOutRow& row : fold.rows)
      if (row.quantity == HeldOutQuantity::final_accuracy && row.predicted && row.recorded)
        figure.series.back().points.emplace_back(*row.recorded, *row.predicted);
  }
  return figure;
}

}  // namespace

int validate_recorded_command(const ValidateArguments& arguments) {
  const std::filesystem::path folder = arguments.output;
  StagedFolder staged(folder, arguments.force);
  const RecordedRuns recorded = read_recorded_runs(arguments.folder, arguments.skip_bad);
  for (const std::string& note : recorded.notes) fmt::print(stderr, "skipped: {}\n", note);
  Progress progress("validating");
  const RecordedValidation validation =
      validate_recorded(recorded, *find_form("relaxation"),
                        [&](double share, const std::string& fold) { progress.update(share, fold); });
  const std::string command = fmt::format("paceline validate recorded {}", shell_quoted(arguments.folder));
  for (const FoldResult& fold : validation.folds) print_fold(fold);
  print_step_times(validation);
  write_file_atomically(staged.path() / "validation.csv", validation_csv(validation));
  const ScatterFigure figure = accuracy_figure_of(validation);
  if (arguments.figures && !figure.series.empty()) draw_scatter(figure, staged.path(), command);
  staged.commit();
  for (const std::string& note : validation.notes) fmt::print(stderr, "note: {}\n", note);
  fmt::print("\nresults: {}\n", folder.string());
  return exit_done;
}

}  // namespace paceline

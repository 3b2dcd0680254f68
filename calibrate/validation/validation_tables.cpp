#include "calibrate/validation/validation_tables.hpp"

#include <algorithm>
#include <cmath>

#include <fmt/format.h>

#include "sim/base/csv.hpp"

namespace paceline {
namespace {

std::string number(const std::optional<double>& value, HeldOutQuantity quantity) {
  if (!value) return "-";
  const bool long_time = is_time(quantity) && quantity != HeldOutQuantity::synchronous_step_time &&
                         quantity != HeldOutQuantity::asynchronous_step_time;
  return long_time ? fmt::format("{:.0f}", *value) : fmt::format("{:.4f}", *value);
}

std::string interval(const std::optional<double>& low, const std::optional<double>& high,
                     HeldOutQuantity quantity) {
  if (!low || !high) return "";
  return fmt::format("{} - {}", number(low, quantity), number(high, quantity));
}

std::string signed_number(const std::optional<double>& error, HeldOutQuantity quantity) {
  if (!error) return "-";
  return is_relative(quantity) ? fmt::format("{:+.1f} %", 100.0 * *error) : fmt::format("{:+.4f}", *error);
}

// Whether predictions lie in the recorded intervals, where there are any.
std::string coverage_text(const FoldResult& fold, HeldOutQuantity quantity, const char* name) {
  int inside = 0;
  int all = 0;
  for (const HeldOutRow& row : fold.rows) {
    if (row.quantity != quantity || !row.predicted || !row.recorded_low || !row.recorded_high) continue;
    ++all;
    if (*row.predicted >= *row.recorded_low && *row.predicted <= *row.recorded_high) ++inside;
  }
  return all == 0 ? std::string()
                  : fmt::format("{}: {} of {} inside the recorded 90 % interval\n", name, inside, all);
}

// Whether the recorded runs lie where as many predicted ones do.
std::string range_text(const FoldResult& fold, HeldOutQuantity quantity, const char* name) {
  int inside = 0;
  int all = 0;
  for (const HeldOutRow& row : fold.rows) {
    if (row.quantity != quantity || !row.recorded || !row.predicted_low || !row.predicted_high) continue;
    ++all;
    if (*row.recorded >= *row.predicted_low && *row.recorded <= *row.predicted_high) ++inside;
  }
  return all == 0 ? std::string()
                  : fmt::format("{}: {} of {} where 90 % of as many predicted runs lie\n", name, inside, all);
}

std::string summary_text(const FoldResult& fold) {
  const auto mean = [&](std::optional<double> HeldOutRow::*model) {
    return number(mean_error(fold.rows, HeldOutQuantity::final_accuracy, std::nullopt, model),
                  HeldOutQuantity::final_accuracy);
  };
  std::string text = fmt::format(
      "mean absolute error of the final accuracy: {}; null models: linear {}, first protocol {}\n",
      mean(&HeldOutRow::predicted), mean(&HeldOutRow::null_linear), mean(&HeldOutRow::null_first));
  text += range_text(fold, HeldOutQuantity::final_accuracy, "recorded final accuracies");
  text += range_text(fold, HeldOutQuantity::time_to_accuracy, "recorded times to accuracy");
  text += coverage_text(fold, HeldOutQuantity::share_reaching, "shares of runs that reach a threshold");
  text += coverage_text(fold, HeldOutQuantity::final_deviation, "sd of the final accuracy");
  if (const std::optional<double> ratio = deviation_ratio(fold.rows))
    text +=
        fmt::format("sd of the final accuracy, root mean square of predicted / recorded: {:.2f}\n", *ratio);
  return text;
}

}  // namespace

std::string fold_text(const FoldResult& fold) {
  std::string text = fmt::format("\n{}\n{:<44} {:>3} {:<34} {:>10} {:>17} {:>10} {:>17} {:>9} {:>9} {:>9}\n",
                                 fold.name, "group", "n", "quantity", "predicted", "90 % of n runs",
                                 "recorded", "90 % interval", "error", "linear", "first");
  for (const HeldOutRow& row : fold.rows)
    text += fmt::format("{:<44} {:>3} {:<34} {:>10} {:>17} {:>10} {:>17} {:>9} {:>9} {:>9}\n", row.group,
                        row.runs, quantity_text(row), number(row.predicted, row.quantity),
                        interval(row.predicted_low, row.predicted_high, row.quantity),
                        number(row.recorded, row.quantity),
                        interval(row.recorded_low, row.recorded_high, row.quantity),
                        signed_number(error_of(row, row.predicted), row.quantity),
                        signed_number(error_of(row, row.null_linear), row.quantity),
                        signed_number(error_of(row, row.null_first), row.quantity));
  return text + summary_text(fold);
}

std::string step_times_text(const std::vector<StepTimeRow>& rows) {
  if (rows.empty()) return "";
  std::string text = fmt::format(
      "\nseconds per step, between pauses where the logs tell (asynchronous: per mini-batch)\n{:<38} {:>9} "
      "{:>9} {:>8} {:>8}  "
      "from\n",
      "group", "predicted", "recorded", "error", "null");
  const auto error = [](double value, const std::optional<double>& recorded) {
    return recorded ? fmt::format("{:+.1f} %", 100.0 * (value / *recorded - 1.0)) : std::string("-");
  };
  for (const StepTimeRow& row : rows)
    text += fmt::format("{:<38} {:>9.4f} {:>9} {:>8} {:>8}  {}\n", row.group, row.predicted_s,
                        row.recorded_s ? fmt::format("{:.4f}", *row.recorded_s) : "-",
                        error(row.predicted_s, row.recorded_s), error(row.null_s, row.recorded_s), row.from);
  return text;
}

std::string validation_csv(const RecordedValidation& validation) {
  CsvTable table({"fold", "group", "runs", "quantity", "predicted", "predicted_low", "predicted_high",
                  "recorded", "error", "recorded_low", "recorded_high", "error_null_linear",
                  "error_null_first"});
  for (const FoldResult& fold : validation.folds) {
    for (const HeldOutRow& row : fold.rows)
      table.add(fold.name)
          .add(row.group)
          .add(row.runs)
          .add(quantity_text(row))
          .add(row.predicted)
          .add(row.predicted_low)
          .add(row.predicted_high)
          .add(row.recorded)
          .add(error_of(row, row.predicted))
          .add(row.recorded_low)
          .add(row.recorded_high)
          .add(error_of(row, row.null_linear))
          .add(error_of(row, row.null_first))
          .end_row();
  }
  const std::optional<double> none;
  for (const StepTimeRow& row : validation.step_times) {
    const auto error = [&](double value) {
      return row.recorded_s ? std::optional(value / *row.recorded_s - 1.0) : std::nullopt;
    };
    table.add(fmt::format("step time from {}", row.from))
        .add(row.group)
        .add(1)
        .add(row.synchronous ? "synchronous step, s" : "asynchronous mini-batch, s")
        .add(std::optional(row.predicted_s))
        .add(none)
        .add(none)
        .add(row.recorded_s)
        .add(error(row.predicted_s))
        .add(none)
        .add(none)
        .add(error(row.null_s))
        .add(none)
        .end_row();
  }
  return table.text();
}

}  // namespace paceline

#include <fmt/format.h>

#include "calibrate/validation/recorded_validation.hpp"
#include "sim/base/csv.hpp"

namespace paceline {
namespace {

using Value = std::optional<double>;

using Range = std::optional<Interval>;

std::string interval_text(const Range& range, HeldOutQuantity quantity) {
  if (!range) return "";
  return fmt::format("{} - {}", value_text(range->low, quantity), value_text(range->high, quantity));
}

// How many values of a quantity lie in the intervals beside them; nothing where there are none.
std::string coverage_text(const FoldResult& fold, HeldOutQuantity quantity, Value HeldOutRow::*value,
                          Range HeldOutRow::*range, const char* sentence) {
  int inside = 0;
  int all = 0;
  for (const HeldOutRow& row : fold.rows) {
    if (row.quantity != quantity || !(row.*value) || !(row.*range)) continue;
    ++all;
    if (*(row.*value) >= (row.*range)->low && *(row.*value) <= (row.*range)->high) ++inside;
  }
  return all == 0 ? std::string() : fmt::format(fmt::runtime(sentence), fmt::format("{} of {}", inside, all));
}

std::string summary_text(const FoldResult& fold) {
  using Row = HeldOutRow;
  using Quantity = HeldOutQuantity;
  const auto mean = [&](Value Row::*model) {
    return value_text(mean_error(fold.rows, Quantity::final_accuracy, std::nullopt, model),
                      Quantity::final_accuracy);
  };
  // Whether the recorded runs lie where as many predicted ones do.
  const auto range = [&](Quantity quantity, const char* sentence) {
    return coverage_text(fold, quantity, &Row::recorded, &Row::predicted_range, sentence);
  };
  // Whether predictions lie in the recorded intervals.
  const auto covered = [&](Quantity quantity, const char* sentence) {
    return coverage_text(fold, quantity, &Row::predicted, &Row::recorded_interval, sentence);
  };
  std::string text = fmt::format(
      "mean absolute error of the final accuracy: {}; null models: linear {}, first protocol {}\n",
      mean(&Row::predicted), mean(&Row::null_linear), mean(&Row::null_first));
  text += range(Quantity::final_accuracy,
                "recorded final accuracies: {} where 90 % of as many predicted runs lie\n");
  text += range(Quantity::time_to_accuracy,
                "recorded times to accuracy: {} where 90 % of as many predicted runs lie\n");
  text += covered(Quantity::share_reaching,
                  "shares of runs that reach a threshold: {} inside the recorded 90 % interval\n");
  text +=
      covered(Quantity::final_deviation, "sd of the final accuracy: {} inside the recorded 90 % interval\n");
  if (const Value ratio = deviation_ratio(fold.rows))
    text +=
        fmt::format("sd of the final accuracy, root mean square of predicted / recorded: {:.2f}\n", *ratio);
  return text;
}

std::string fold_text(const FoldResult& fold) {
  constexpr const char* line = "{:<44} {:>3} {:<34} {:>10} {:>17} {:>10} {:>17} {:>9} {:>9} {:>9}\n";
  std::string text = fmt::format("\n{}\n", fold.name);
  text += fmt::format(fmt::runtime(line), "group", "n", "quantity", "predicted", "90 % of n runs", "recorded",
                      "90 % interval", "error", "linear", "first");
  for (const HeldOutRow& row : fold.rows)
    text += fmt::format(
        fmt::runtime(line), row.group, row.runs, quantity_text(row), value_text(row.predicted, row.quantity),
        interval_text(row.predicted_range, row.quantity), value_text(row.recorded, row.quantity),
        interval_text(row.recorded_interval, row.quantity), error_text(row, row.predicted),
        error_text(row, row.null_linear), error_text(row, row.null_first));
  return text + summary_text(fold);
}

std::string step_times_text(const std::vector<StepTimeRow>& rows) {
  if (rows.empty()) return "";
  constexpr const char* line = "{:<38} {:>9} {:>9} {:>8} {:>8}  {}\n";
  std::string text =
      "\nseconds per step, between pauses where the logs tell (asynchronous: per mini-batch)\n";
  text += fmt::format(fmt::runtime(line), "group", "predicted", "recorded", "error", "null", "from");
  for (const auto& [from, row] : rows)
    text += fmt::format(fmt::runtime(line), row.group, value_text(row.predicted, row.quantity),
                        value_text(row.recorded, row.quantity), error_text(row, row.predicted),
                        error_text(row, row.null_linear), from);
  return text;
}

Value low_of(const Range& range) {
  return range ? Value(range->low) : std::nullopt;
}
Value high_of(const Range& range) {
  return range ? Value(range->high) : std::nullopt;
}

void add_row(CsvTable& table, const std::string& fold, const HeldOutRow& row) {
  table.add(fold).add(row.group).add(row.runs).add(quantity_text(row));
  for (const Value& value :
       {row.predicted, low_of(row.predicted_range), high_of(row.predicted_range), row.recorded,
        error_of(row, row.predicted), low_of(row.recorded_interval), high_of(row.recorded_interval),
        error_of(row, row.null_linear), error_of(row, row.null_first)})
    table.add(value);
  table.end_row();
}

}  // namespace

std::string validation_text(const RecordedValidation& validation) {
  std::string text;
  for (const FoldResult& fold : validation.folds) text += fold_text(fold);
  return text + coverage_text(validation.coverage) + step_times_text(validation.step_times);
}

std::string validation_csv(const RecordedValidation& validation) {
  CsvTable table({"fold", "group", "runs", "quantity", "predicted", "predicted_low", "predicted_high",
                  "recorded", "error", "recorded_low", "recorded_high", "error_null_linear",
                  "error_null_first"});
  for (const FoldResult& fold : validation.folds)
    for (const HeldOutRow& row : fold.rows) add_row(table, fold.name, row);
  for (const auto& [from, row] : validation.step_times)
    add_row(table, fmt::format("step time from {}", from), row);
  return table.text();
}

}  // namespace paceline

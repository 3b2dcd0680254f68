#include "calibrate/asynchronous/predict_command.hpp"

#include <algorithm>
#include <array>
#include <filesystem>

#include <fmt/format.h>

#include "calibrate/asynchronous/further_runs.hpp"
#include "calibrate/asynchronous/prediction.hpp"
#include "sim/base/atomic_file.hpp"
#include "sim/base/csv.hpp"
#include "sim/base/diagnostic.hpp"

namespace paceline {
namespace {

AsynchronousPrediction predict_row(const AsynchronousPredictor& predictor, const CsvRow& row,
                                   const CsvFile& file) {
  ParsedConfiguration parsed = parse_configuration(row.text("configuration"));
  if (!parsed.configuration) return predictor.predict(row.text("configuration"));
  std::vector<AsynchronousWorker>& workers = parsed.configuration->workers;
  const auto read = [&](const char* column, std::optional<double> AsynchronousWorker::*time) -> std::string {
    if (!file.has(column) || row.text(column).empty()) return "";
    const std::string& text = row.text(column);
    if (workers.empty()) row.fail_at(column, "an exchange has no workers that join or leave");
    if (const std::string wrong = set_times(text, time, workers); !wrong.empty()) row.fail_at(column, wrong);
    return text;
  };
  const std::string joins = read("joins", &AsynchronousWorker::joins_s);
  const std::string leaves = read("leaves", &AsynchronousWorker::leaves_s);
  for (const AsynchronousWorker& worker : workers)
    if (worker.joins_s && worker.leaves_s && *worker.leaves_s <= *worker.joins_s)
      row.fail_at("leaves", fmt::format("a worker that joins after {:g} s leaves after {:g} s",
                                        *worker.joins_s, *worker.leaves_s));
  AsynchronousPrediction prediction = predictor.predict(*parsed.configuration);
  prediction.joins = joins;
  prediction.leaves = leaves;
  return prediction;
}

}  // namespace

void predict_configurations(const PredictArguments& arguments) {
  if (!arguments.force && !arguments.output.empty() && std::filesystem::exists(arguments.output))
    throw UserError(fmt::format("{} exists", arguments.output),
                    "--force replaces it; or name another file with -o");
  const CsvFile file(arguments.file, {"configuration"}, {.is_hand_written = true, .keeps_ragged_rows = true});
  if (file.rows().empty()) file.fail("no configuration is named", "one a row, for example k80x4-1ps");
  constexpr std::array read_columns{"configuration", "joins", "leaves"};
  for (const std::string& column : file.columns())
    if (std::ranges::find(read_columns, column) == read_columns.end())
      fmt::print(stderr, "note: {}: the column `{}` is not read: `joins` and `leaves` are\n", arguments.file,
                 column);
  const AsynchronousRecords records = read_asynchronous_records(arguments.records);
  const AsynchronousPredictor predictor(records, further_runs(arguments.joint),
                                        {.same_cluster = arguments.same_cluster, .draws = arguments.draws});
  std::vector<AsynchronousPrediction> predictions;
  std::size_t refused = 0;
  for (const CsvRow& row : file.rows()) {
    predictions.push_back(predict_row(predictor, row, file));
    if (!predictions.back().duration_s) ++refused;
  }
  const std::string text = predictions_csv(predictions);
  if (arguments.output.empty()) {
    fmt::print("{}", text);
    return;
  }
  write_file_atomically(arguments.output, text);
  const std::size_t predicted = predictions.size() - refused;
  fmt::print("{} configuration{} predicted, {} refused: {}\n", predicted, predicted == 1 ? "" : "s", refused,
             arguments.output);
}

}  // namespace paceline

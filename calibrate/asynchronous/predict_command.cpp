#include "calibrate/asynchronous/predict_command.hpp"

#include <filesystem>

#include <fmt/format.h>

#include "calibrate/asynchronous/further_runs.hpp"
#include "calibrate/asynchronous/prediction.hpp"
#include "sim/base/atomic_file.hpp"
#include "sim/base/csv.hpp"
#include "sim/base/diagnostic.hpp"

namespace paceline {

void predict_configurations(const PredictArguments& arguments) {
  if (!arguments.force && !arguments.output.empty() && std::filesystem::exists(arguments.output))
    throw UserError(fmt::format("{} exists", arguments.output),
                    "--force replaces it; or name another file with -o");
  const CsvFile file(arguments.file, {"configuration"}, {.is_hand_written = true, .keeps_ragged_rows = true});
  if (file.rows().empty()) file.fail("no configuration is named", "one a row, for example k80x4-1ps");
  const AsynchronousRecords records = read_asynchronous_records(arguments.records);
  const AsynchronousPredictor predictor(records, further_runs(arguments.joint),
                                        {.same_cluster = arguments.same_cluster, .draws = arguments.draws});
  std::vector<AsynchronousPrediction> predictions;
  std::size_t refused = 0;
  for (const CsvRow& row : file.rows()) {
    predictions.push_back(predictor.predict(row.text("configuration")));
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

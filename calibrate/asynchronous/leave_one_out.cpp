#include "calibrate/asynchronous/leave_one_out.hpp"

#include <algorithm>
#include <array>
#include <cmath>

#include <fmt/format.h>

#include "calibrate/asynchronous/exchange_model.hpp"
#include "calibrate/learning/exact_interval.hpp"
#include "sim/base/csv.hpp"
#include "sim/base/order_statistics.hpp"
#include "sim/report/output/text_table.hpp"
#include "sim/report/statistics/time_to_accuracy.hpp"

namespace paceline {
namespace {

constexpr double eight_workers_accuracy = 0.8918;

struct QuantityName {
  PredictedQuantity quantity;
  const char* name;
};
constexpr std::array<QuantityName, 4> quantities{{{PredictedQuantity::duration, "duration"},
                                                  {PredictedQuantity::accuracy, "final accuracy"},
                                                  {PredictedQuantity::to_85, "time to .85"},
                                                  {PredictedQuantity::to_90, "time to .90"}}};

const char* name_of(PredictedQuantity quantity) {
  return std::ranges::find(quantities, quantity, &QuantityName::quantity)->name;
}

std::optional<double> error_of(const LeftOutRow& row, const std::optional<double>& predicted) {
  if (!predicted) return std::nullopt;
  return row.quantity == PredictedQuantity::accuracy ? *predicted - row.recorded
                                                     : *predicted / row.recorded - 1.0;
}

struct Recorded {
  std::string name;
  std::string campaign;  // the first it was recorded in
  Configuration configuration;
  std::map<PredictedQuantity, std::vector<double>> values;
};

std::vector<Recorded> recorded_of(const AsynchronousRecords& records) {
  std::vector<Recorded> all;
  const auto entry = [&](const std::string& campaign, const Configuration& configuration) -> Recorded& {
    const auto found = std::ranges::find(all, configuration.name, &Recorded::name);
    if (found != all.end()) return *found;
    return all.emplace_back(Recorded{configuration.name, campaign, configuration, {}});
  };
  for (const TrainingRecord& training : records.trainings) {
    Recorded& recorded = entry(training.campaign, training.configuration);
    recorded.values[PredictedQuantity::duration].push_back(training.duration_s);
    recorded.values[PredictedQuantity::accuracy].push_back(training.final_accuracy);
    if (training.to_85_s) recorded.values[PredictedQuantity::to_85].push_back(*training.to_85_s);
    if (training.to_90_s) recorded.values[PredictedQuantity::to_90].push_back(*training.to_90_s);
  }
  for (const SpeedRecord& speed : records.speeds)
    if (speed.configuration.workers.size() > 1)
      entry(speed.campaign, speed.configuration)
          .values[PredictedQuantity::duration]
          .push_back(training_updates / speed.rate);
  for (const ExchangeRecord& exchange : records.exchanges)
    entry("", exchange.configuration)
        .values[PredictedQuantity::duration]
        .push_back(exchange.blocked_s.value_or(exchange.first_s));
  return all;
}

// The same configuration with rates that add up; 36,000 of 64,000 updates until .90.
std::optional<double> null_of(const Recorded& recorded, PredictedQuantity quantity,
                              const AsynchronousRecords& records) {
  const Configuration& configuration = recorded.configuration;
  if (configuration.kind == ConfigurationKind::exchange) {
    for (const ExchangeRecord& exchange : records.exchanges)
      if (exchange.configuration.name == recorded.name)
        return ring_seconds(exchange.bytes, exchange_nodes, configuration.rate_mbit);
    return std::nullopt;
  }
  const auto workers = static_cast<double>(configuration.workers.size());
  if (workers < 2.0 || quantity == PredictedQuantity::to_85) return std::nullopt;
  if (quantity == PredictedQuantity::accuracy) {
    std::vector<double> alone;
    for (const TrainingRecord& training : records.trainings)
      if (training.configuration.workers.size() == 1) alone.push_back(training.final_accuracy);
    if (alone.empty()) return std::nullopt;
    const double from = spread_of(alone).mean;
    return from + (eight_workers_accuracy - from) * (workers - 1.0) / 7.0;
  }
  std::vector<double> alone;
  for (const TrainingRecord& training : records.trainings)
    if (configuration.kind == ConfigurationKind::training && training.configuration.workers.size() == 1 &&
        training.configuration.common_gpu() == configuration.common_gpu())
      alone.push_back(training.duration_s);
  for (const SpeedRecord& speed : records.speeds)
    if (configuration.kind == ConfigurationKind::speed && speed.campaign == "scaling" &&
        speed.configuration.workers.size() == 1 && speed.configuration.network == configuration.network &&
        speed.configuration.common_gpu() == configuration.common_gpu())
      alone.push_back(training_updates / speed.rate);
  if (alone.empty()) return std::nullopt;
  const double linear = spread_of(alone).mean / workers;
  if (quantity == PredictedQuantity::duration) return linear;
  return spread_of(recorded.values.at(PredictedQuantity::duration)).mean * 36'000.0 / training_updates;
}

const std::optional<RunRange>& field_of(const AsynchronousPrediction& prediction,
                                        PredictedQuantity quantity) {
  switch (quantity) {
    case PredictedQuantity::duration:
      return prediction.duration_s;
    case PredictedQuantity::accuracy:
      return prediction.accuracy;
    case PredictedQuantity::to_85:
      return prediction.to_85_s;
    case PredictedQuantity::to_90:
      break;
  }
  return prediction.to_90_s;
}

void add_rows(const Recorded& recorded, const AsynchronousPrediction& prediction,
              const AsynchronousPrediction* fitted, const AsynchronousRecords& records,
              std::vector<LeftOutRow>& rows) {
  for (const auto& [quantity, values] : recorded.values) {
    const std::optional<RunRange>& range = field_of(prediction, quantity);
    if (!range || values.empty()) continue;
    const Spread spread = spread_of(values);
    LeftOutRow row{recorded.name,
                   quantity,
                   *range,
                   spread.mean,
                   spread.deviation / std::sqrt(static_cast<double>(values.size())),
                   {},
                   null_of(recorded, quantity, records),
                   values,
                   0};
    if (fitted != nullptr) row.fitted = field_of(*fitted, quantity)->mean;
    for (const double value : values) row.inside += value >= range->low && value <= range->high ? 1 : 0;
    rows.push_back(std::move(row));
  }
}

std::string coverage_text(const std::vector<LeftOutRow>& rows, PredictedQuantity quantity,
                          const std::string& part) {
  int inside = 0;
  int runs = 0;
  double width = 0.0;
  double spread = 0.0;
  int groups = 0;
  for (const LeftOutRow& row : rows) {
    const bool is_part =
        part.empty() ? row.configuration.find('/') == std::string::npos : row.configuration.starts_with(part);
    if (row.quantity != quantity || !is_part) continue;
    inside += row.inside;
    runs += static_cast<int>(row.runs.size());
    if (row.runs.size() < 5) continue;
    const double scale = quantity == PredictedQuantity::accuracy ? 1.0 : row.recorded;
    width += (row.predicted.high - row.predicted.low) / scale;
    spread += normal_5_to_95 * spread_of(row.runs).deviation / scale;
    ++groups;
  }
  if (runs == 0) return "";
  const Interval interval = exact_interval(inside, runs);
  std::string text = fmt::format(
      "{}{}: {} of {} inside their 90 % range ({:.2f}, 90 % interval {:.2f} to {:.2f})", part,
      name_of(quantity), inside, runs, static_cast<double>(inside) / runs, interval.low, interval.high);
  if (groups > 0)
    text += fmt::format(", mean width {:.2f} times the recorded spread of {} groups", width / spread, groups);
  return text + "\n";
}

}  // namespace

LeaveOneOut leave_one_out(const AsynchronousRecords& records, const std::vector<AccuracyRun>& further,
                          const PredictionOptions& options) {
  LeaveOneOut result;
  const AsynchronousPredictor all(records, further, options);
  result.machine_deviation = all.speed().machine_deviation(true);
  result.series_deviation = all.speed().machine_deviation(false);
  result.campaign_deviation = all.speed().campaign_deviation();
  for (const Recorded& recorded : recorded_of(records)) {
    const AsynchronousPredictor predictor(records, further, options, recorded.name);
    const AsynchronousPrediction prediction = predictor.predict(recorded.name, recorded.campaign);
    const AsynchronousPrediction fitted = all.predict(recorded.name, recorded.campaign);
    add_rows(recorded, prediction, &fitted, records, result.rows);
  }
  return result;
}

std::vector<LeftOutRow> score_predictions(const AsynchronousRecords& records,
                                          const std::vector<AsynchronousPrediction>& predictions) {
  std::vector<LeftOutRow> rows;
  for (const Recorded& recorded : recorded_of(records)) {
    // Recorded jobs had all workers from the start to the end.
    const auto prediction = std::ranges::find_if(predictions, [&](const AsynchronousPrediction& of) {
      return of.configuration == recorded.name && of.joins.empty() && of.leaves.empty();
    });
    if (prediction != predictions.end()) add_rows(recorded, *prediction, nullptr, records, rows);
  }
  return rows;
}

std::string scores_text(const std::vector<LeftOutRow>& rows) {
  TextRows table{{"configuration", "quantity", "runs", "predicted", "90 % range", "recorded", "error",
                  "fitted", "null", "inside"}};
  for (const LeftOutRow& row : rows) {
    const bool is_accuracy = row.quantity == PredictedQuantity::accuracy;
    const auto number = [&](double value) {
      return is_accuracy    ? fmt::format("{:.4f}", value)
             : value < 10.0 ? fmt::format("{:.3f}", value)
                            : fmt::format("{:.0f}", value);
    };
    const auto error = [&](const std::optional<double>& value) {
      if (!value) return std::string("-");
      return is_accuracy ? fmt::format("{:+.4f}", *value) : fmt::format("{:+.1f} %", 100.0 * *value);
    };
    table.push_back({row.configuration, name_of(row.quantity), fmt::format("{}", row.runs.size()),
                     number(row.predicted.mean),
                     fmt::format("{} to {}", number(row.predicted.low), number(row.predicted.high)),
                     number(row.recorded), error(error_of(row, row.predicted.mean)),
                     error(error_of(row, row.fitted)), error(error_of(row, row.null)),
                     fmt::format("{}", row.inside)});
  }
  std::string text = text_table(table) + "\n";
  for (const QuantityName& quantity : quantities)
    for (const std::string& part : {std::string(), std::string("speed/"), std::string("exchange/")})
      text += coverage_text(rows, quantity.quantity, part);
  double ours = 0.0;
  std::optional<double> fitted;
  double linear = 0.0;
  double speeds = 0.0;
  for (const LeftOutRow& row : rows) {
    if (!row.configuration.starts_with("speed/") || !row.null) continue;
    ours += std::abs(*error_of(row, row.predicted.mean));
    if (const auto error = error_of(row, row.fitted)) fitted = fitted.value_or(0.0) + std::abs(*error);
    linear += std::abs(*error_of(row, row.null));
    speeds += 1.0;
  }
  if (speeds > 0.0)
    text += fmt::format(
        "mean absolute error of {} speeds: {:.1f} %{}, linear null {:.1f} %\n", speeds, 100.0 * ours / speeds,
        fitted ? fmt::format(", fitted {:.1f} %", 100.0 * *fitted / speeds) : "", 100.0 * linear / speeds);
  return text;
}

std::string leave_one_out_text(const LeaveOneOut& result) {
  const auto deviation = [](const StepDeviation& of) {
    return fmt::format("{:.1f} % and {:.1f} ms", 100.0 * of.relative, 1000.0 * of.seconds);
  };
  return "Each configuration from a fit of the others\n\n" + scores_text(result.rows) +
         fmt::format(
             "deviation of an iteration between machines {} (trainings), {} (series), between "
             "campaigns {}\n",
             deviation(result.machine_deviation), deviation(result.series_deviation),
             deviation(result.campaign_deviation));
}

std::string leave_one_out_csv(const LeaveOneOut& result) {
  CsvTable table({"configuration", "quantity", "runs", "predicted", "low", "high", "recorded",
                  "standard_error", "error", "fitted", "null", "null_error", "inside"});
  for (const LeftOutRow& row : result.rows) {
    table.add(row.configuration).add(std::string_view(name_of(row.quantity))).add(row.runs.size());
    table.add(row.predicted.mean).add(row.predicted.low).add(row.predicted.high).add(row.recorded);
    table.add(row.standard_error).add(error_of(row, row.predicted.mean)).add(row.fitted).add(row.null);
    table.add(error_of(row, row.null)).add(row.inside);
    table.end_row();
  }
  return table.text();
}

}  // namespace paceline

#include "calibrate/learning/held_out.hpp"

#include <array>
#include <cmath>
#include <map>
#include <utility>

#include <fmt/format.h>

#include "calibrate/learning/recorded_layout.hpp"

namespace paceline {
namespace {

struct QuantityDescription {
  HeldOutQuantity quantity;
  const char* text;  // with a place for progress or threshold
  bool relative;     // errors
  int digits;
};

constexpr std::array quantities{
    QuantityDescription{HeldOutQuantity::final_accuracy, "final accuracy", false, 4},
    QuantityDescription{HeldOutQuantity::final_deviation, "sd of final accuracy", true, 4},
    QuantityDescription{HeldOutQuantity::accuracy_at, "accuracy at {:.2f} of the workload", false, 4},
    QuantityDescription{HeldOutQuantity::time_to_accuracy, "time to {:.2f}, s", true, 0},
    QuantityDescription{HeldOutQuantity::median_time_to_accuracy, "median time to {:.2f}, s", true, 0},
    QuantityDescription{HeldOutQuantity::share_reaching, "share of runs reaching {:.2f}", false, 4},
    QuantityDescription{HeldOutQuantity::synchronous_step_time, "synchronous step, s", true, 4},
    QuantityDescription{HeldOutQuantity::asynchronous_step_time, "asynchronous mini-batch, s", true, 4},
    QuantityDescription{HeldOutQuantity::total_time, "total time, s", true, 0}};

const QuantityDescription& description(HeldOutQuantity quantity) {
  return *std::ranges::find(quantities, quantity, &QuantityDescription::quantity);
}

}  // namespace

std::string quantity_text(const HeldOutRow& row) {
  return fmt::format(fmt::runtime(description(row.quantity).text), row.at);
}

bool is_relative(HeldOutQuantity quantity) {
  return description(quantity).relative;
}

std::optional<double> error_of(const HeldOutRow& row, const std::optional<double>& predicted) {
  if (!predicted || !row.recorded) return std::nullopt;
  if (!is_relative(row.quantity)) return *predicted - *row.recorded;
  if (*row.recorded <= 0.0) return std::nullopt;
  return *predicted / *row.recorded - 1.0;
}

std::string value_text(const std::optional<double>& value, HeldOutQuantity quantity) {
  return value ? fmt::format("{:.{}f}", *value, description(quantity).digits) : "-";
}

std::string error_text(const HeldOutRow& row, const std::optional<double>& predicted) {
  const std::optional<double> error = error_of(row, predicted);
  if (!error) return "-";
  return is_relative(row.quantity) ? fmt::format("{:+.1f} %", 100.0 * *error)
                                   : fmt::format("{:+.4f}", *error);
}

std::vector<HeldOutRow> predict_held_out(const FittedLearner& learner, std::span<const TracedGroup> fitted_on,
                                         std::span<const TracedGroup> held_out,
                                         const HeldOutOptions& options) {
  std::vector<HeldOutRow> rows;
  for (const TracedGroup& group : held_out) {
    const ClockRates rates = rates_of(fitted_on, group.group.plan().workers);
    const PredictedRuns predicted = predict_runs(learner, group, rates, options.runs);
    for (HeldOutRow& row : compare_held_out(predicted, fitted_on, group.group, options.thresholds))
      rows.push_back(std::move(row));
  }
  return rows;
}

std::optional<double> mean_error(std::span<const HeldOutRow> rows, HeldOutQuantity quantity,
                                 std::optional<double> at, std::optional<double> HeldOutRow::*predicted) {
  struct Sum {
    double errors = 0.0;
    double runs = 0.0;
  };
  std::map<std::pair<std::string, double>, Sum> by_policy;
  for (const HeldOutRow& row : rows) {
    if (row.quantity != quantity || (at && row.at != *at)) continue;
    const std::optional<double> error = error_of(row, row.*predicted);
    if (!error) continue;
    Sum& sum = by_policy[{policy_of(row.group), row.at}];
    sum.errors += *error * static_cast<double>(row.runs);
    sum.runs += static_cast<double>(row.runs);
  }
  if (by_policy.empty()) return std::nullopt;
  double mean = 0.0;
  for (const auto& [policy, sum] : by_policy)
    mean += std::abs(sum.errors / sum.runs) / static_cast<double>(by_policy.size());
  return mean;
}

std::optional<double> deviation_ratio(std::span<const HeldOutRow> rows) {
  std::vector<double> squares;
  for (const HeldOutRow& row : rows) {
    if (row.quantity != HeldOutQuantity::final_deviation) continue;
    if (const std::optional<double> error = error_of(row, row.predicted))
      squares.push_back((1.0 + *error) * (1.0 + *error));
  }
  const std::optional<double> mean = mean_of(squares);
  return mean ? std::optional(std::sqrt(*mean)) : std::nullopt;
}

}  // namespace paceline

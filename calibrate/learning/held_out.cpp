#include "calibrate/learning/held_out.hpp"

#include <cmath>
#include <map>
#include <utility>

#include <fmt/format.h>

namespace paceline {

bool is_time(HeldOutQuantity quantity) {
  switch (quantity) {
    case HeldOutQuantity::time_to_accuracy:
    case HeldOutQuantity::median_time_to_accuracy:
    case HeldOutQuantity::synchronous_step_time:
    case HeldOutQuantity::asynchronous_step_time:
    case HeldOutQuantity::total_time:
      return true;
    default:
      return false;
  }
}

bool is_relative(HeldOutQuantity quantity) {
  return is_time(quantity) || quantity == HeldOutQuantity::final_deviation;
}

std::string quantity_text(const HeldOutRow& row) {
  switch (row.quantity) {
    case HeldOutQuantity::final_accuracy:
      return "final accuracy";
    case HeldOutQuantity::final_deviation:
      return "sd of final accuracy";
    case HeldOutQuantity::accuracy_at:
      return fmt::format("accuracy at {:.2f} of the workload", row.at);
    case HeldOutQuantity::time_to_accuracy:
      return fmt::format("time to {:.2f}, s", row.at);
    case HeldOutQuantity::median_time_to_accuracy:
      return fmt::format("median time to {:.2f}, s", row.at);
    case HeldOutQuantity::share_reaching:
      return fmt::format("share of runs reaching {:.2f}", row.at);
    case HeldOutQuantity::synchronous_step_time:
      return "synchronous step, s";
    case HeldOutQuantity::asynchronous_step_time:
      return "asynchronous mini-batch, s";
    case HeldOutQuantity::total_time:
      break;
  }
  return "total time, s";
}

std::optional<double> error_of(const HeldOutRow& row, const std::optional<double>& predicted) {
  if (!predicted || !row.recorded) return std::nullopt;
  if (!is_relative(row.quantity)) return *predicted - *row.recorded;
  if (*row.recorded <= 0.0) return std::nullopt;
  return *predicted / *row.recorded - 1.0;
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
  double squares = 0.0;
  double groups = 0.0;
  for (const HeldOutRow& row : rows) {
    if (row.quantity != HeldOutQuantity::final_deviation) continue;
    const std::optional<double> error = error_of(row, row.predicted);
    if (!error) continue;
    squares += (1.0 + *error) * (1.0 + *error);
    groups += 1.0;
  }
  if (groups == 0.0) return std::nullopt;
  return std::sqrt(squares / groups);
}

std::string policy_of(const std::string& group) {
  const std::size_t slash = group.find('/');
  const std::size_t start = slash == std::string::npos ? 0 : slash + 1;
  const std::size_t remark = group.find(" (", start);
  return group.substr(start, remark == std::string::npos ? std::string::npos : remark - start);
}

}  // namespace paceline

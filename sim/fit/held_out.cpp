#include "sim/fit/held_out.hpp"

#include <array>
#include <cmath>
#include <map>

#include <boost/math/distributions/beta.hpp>
#include <boost/math/distributions/chi_squared.hpp>
#include <fmt/format.h>

#include "sim/fit/null_models.hpp"

namespace paceline {
namespace {

constexpr std::array progress_points{0.10, 0.20, 0.40};
constexpr double tail = 0.05;  // on each side

void add_share_interval(HeldOutRow& row, std::size_t reached, std::size_t runs) {
  using Beta = boost::math::beta_distribution<double>;
  const auto k = static_cast<double>(reached);
  const auto n = static_cast<double>(runs);
  row.recorded_low = reached == 0 ? 0.0 : boost::math::quantile(Beta(k, n - k + 1.0), tail);
  row.recorded_high = reached == runs ? 1.0 : boost::math::quantile(Beta(k + 1.0, n - k), 1.0 - tail);
}

void add_deviation_interval(HeldOutRow& row, double deviation, std::size_t runs) {
  const auto degrees = static_cast<double>(runs - 1);
  const boost::math::chi_squared_distribution<double> distribution(degrees);
  row.recorded_low = deviation * std::sqrt(degrees / boost::math::quantile(distribution, 1.0 - tail));
  row.recorded_high = deviation * std::sqrt(degrees / boost::math::quantile(distribution, tail));
}

// All rows of one group.
class GroupRows {
 public:
  GroupRows(const FittedLearner& learner, std::span<const TracedGroup> fitted_on, const TracedGroup& group,
            const HeldOutOptions& options)
      : learner_(learner),
        fitted_on_(fitted_on),
        group_(group),
        plan_(group.group.plan()),
        rates_(rates_of(fitted_on, plan_.workers)),
        predicted_(predict_runs(learner, group, options.runs)) {
    add_final();
    for (const double progress : progress_points) add_accuracy_at(progress);
    for (const double threshold : options.thresholds) add_threshold(threshold);
    add_total_time();
  }
  [[nodiscard]] std::vector<HeldOutRow> take() { return std::move(rows_); }

 private:
  [[nodiscard]] HeldOutRow row(HeldOutQuantity quantity, double at = 0.0) const {
    HeldOutRow row;
    row.group = group_.group.name;
    row.runs = group_.group.runs.size();
    row.quantity = quantity;
    row.at = at;
    return row;
  }

  void add_final() {
    HeldOutRow accuracy = row(HeldOutQuantity::final_accuracy);
    if (predicted_.diverged_share() < 1.0) accuracy.predicted = predicted_.mean_final();
    accuracy.recorded = group_.group.mean_final_accuracy();
    const PureValues pure = pure_final_accuracies(fitted_on_);
    accuracy.null_linear = linear_null(pure, plan_);
    accuracy.null_first = first_protocol_null(pure, plan_);
    rows_.push_back(accuracy);
    HeldOutRow deviation = row(HeldOutQuantity::final_deviation);
    deviation.predicted = predicted_.final_deviation();
    deviation.recorded = group_.group.final_accuracy_deviation();
    if (deviation.recorded) add_deviation_interval(deviation, *deviation.recorded, deviation.runs);
    rows_.push_back(deviation);
  }

  void add_accuracy_at(double progress) {
    HeldOutRow accuracy = row(HeldOutQuantity::accuracy_at, progress);
    const std::array position{progress * plan_.workload_minibatches()};
    accuracy.predicted = predict(learner_.form, group_, position).front().accuracy;
    accuracy.recorded = group_.group.mean_accuracy_at(position[0]);
    const PureValues pure = pure_accuracies_at(fitted_on_, progress);
    accuracy.null_linear = linear_null(pure, plan_);
    accuracy.null_first = first_protocol_null(pure, plan_);
    rows_.push_back(accuracy);
  }

  void add_threshold(double threshold) {
    const Reached predicted = reach(predicted_, plan_, rates_, threshold);
    const Reached recorded = reach(group_.group, threshold);
    HeldOutRow time = row(HeldOutQuantity::time_to_accuracy, threshold);
    time.predicted = predicted.mean_time_s;
    time.recorded = recorded.mean_time_s;
    time.null_first = first_drop_null(predicted_, plan_, rates_);
    rows_.push_back(time);
    if (recorded.runs == 0) return;
    HeldOutRow share = row(HeldOutQuantity::share_reaching, threshold);
    share.predicted = static_cast<double>(predicted.reached) / static_cast<double>(predicted.runs);
    share.recorded = static_cast<double>(recorded.reached) / static_cast<double>(recorded.runs);
    add_share_interval(share, recorded.reached, recorded.runs);
    rows_.push_back(share);
  }

  // The null is the prediction here: rates alone give total times (reference/sync-switch.md, section 9).
  void add_total_time() {
    HeldOutRow time = row(HeldOutQuantity::total_time);
    time.predicted = time_at(plan_, rates_, plan_.workload_minibatches());
    time.null_linear = time.predicted;
    double sum = 0.0;
    for (const TrainingRun& run : group_.group.runs) {
      if (!run.training_time_s) return;
      sum += *run.training_time_s;
    }
    time.recorded = sum / static_cast<double>(time.runs);
    rows_.push_back(time);
  }

  const FittedLearner& learner_;
  std::span<const TracedGroup> fitted_on_;
  const TracedGroup& group_;
  const TrainingPlan& plan_;
  ClockRates rates_;
  PredictedRuns predicted_;
  std::vector<HeldOutRow> rows_;
};

bool is_relative(HeldOutQuantity quantity) {
  return quantity == HeldOutQuantity::time_to_accuracy || quantity == HeldOutQuantity::total_time ||
         quantity == HeldOutQuantity::final_deviation;
}

}  // namespace

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
    case HeldOutQuantity::share_reaching:
      return fmt::format("share of runs reaching {:.2f}", row.at);
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
  for (const TracedGroup& group : held_out)
    for (HeldOutRow& row : GroupRows(learner, fitted_on, group, options).take())
      rows.push_back(std::move(row));
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

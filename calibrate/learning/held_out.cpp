#include "calibrate/learning/held_out.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <map>
#include <utility>

#include <boost/math/distributions/chi_squared.hpp>
#include <boost/math/distributions/students_t.hpp>
#include <fmt/format.h>

#include "calibrate/learning/exact_interval.hpp"
#include "calibrate/learning/recorded_layout.hpp"

namespace paceline {
namespace {

constexpr std::array progress_points{0.10, 0.20, 0.40};
constexpr double tail = 0.05;  // on each side of a 90 % interval

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

Interval deviation_interval(double deviation, std::size_t runs) {
  const auto degrees = static_cast<double>(runs - 1);
  const boost::math::chi_squared_distribution<double> distribution(degrees);
  return {deviation * std::sqrt(degrees / boost::math::quantile(distribution, 1.0 - tail)),
          deviation * std::sqrt(degrees / boost::math::quantile(distribution, tail))};
}

// Of a mean over n runs with this standard deviation.
void add_mean_interval(HeldOutRow& row, std::optional<double> deviation, std::size_t runs) {
  if (!deviation || !row.recorded || runs < 2) return;
  const boost::math::students_t_distribution<double> distribution(static_cast<double>(runs - 1));
  const double width =
      *deviation / std::sqrt(static_cast<double>(runs)) * boost::math::quantile(distribution, 1.0 - tail);
  row.recorded_interval = Interval{*row.recorded - width, *row.recorded + width};
}

bool is_pure(const TrainingPlan& plan) {
  return std::ranges::all_of(plan.phases, [&](const PlanPhase& phase) {
    return phase.synchronous == plan.phases.front().synchronous;
  });
}

// A quantity of the pure runs, and what the two null models make of it.
struct PureValues {
  std::optional<double> synchronous;
  std::optional<double> asynchronous;

  template <class Quantity>
  PureValues(std::span<const TracedGroup> groups, Quantity quantity) {
    for (const TracedGroup& group : groups) {
      const TrainingPlan& plan = group.group.plan();
      std::optional<double>& slot = plan.phases.front().synchronous ? synchronous : asynchronous;
      if (is_pure(plan) && !slot) slot = quantity(group.group);
    }
  }
  void put_nulls(const TrainingPlan& plan, HeldOutRow& row) const {
    row.null_first = plan.phases.front().synchronous ? synchronous : asynchronous;
    if (!synchronous || !asynchronous) return;
    double work = 0.0;
    for (const PlanPhase& phase : plan.phases)
      if (phase.synchronous) work += phase.minibatches;
    const double share = work / plan.workload_minibatches();
    row.null_linear = share * *synchronous + (1.0 - share) * *asynchronous;
  }
};

// Time of the first evaluation after the first drop; nothing without a drop or a rate.
std::optional<double> first_drop_null(const PredictedRuns& evaluations, const TrainingPlan& plan,
                                      const ClockRates& rates) {
  if (plan.drops_minibatches.empty()) return std::nullopt;
  for (const PredictedRun& run : evaluations.runs)
    for (const PositionedValue& point : run.accuracy)
      if (point.minibatches > plan.first_drop()) return time_at(plan, rates, point.minibatches);
  return std::nullopt;
}

ClockRates step_times_of(const auto& runs) {
  std::vector<PhaseTime> phases;
  for (const auto& run : runs) phases.insert(phases.end(), run.phases.begin(), run.phases.end());
  return rates_of(phases);
}

class GroupRows {
 public:
  GroupRows(const PredictedRuns& predicted, std::span<const TracedGroup> fitted_on, const RunGroup& group,
            std::span<const double> thresholds, const PredictedRuns& sets)
      : fitted_on_(fitted_on),
        group_(group),
        plan_(group.plan()),
        rates_(rates_of(fitted_on, plan_.workers)),
        predicted_(predicted),
        sets_(sets),
        curves_(recorded_curves(group)) {
    add_final();
    for (const double progress : progress_points) add_accuracy_at(progress);
    for (const double threshold : thresholds) add_threshold(threshold);
    add_step_time(HeldOutQuantity::synchronous_step_time, &ClockRates::synchronous_s_per_step);
    add_step_time(HeldOutQuantity::asynchronous_step_time, &ClockRates::asynchronous_s_per_step);
    add_total_time();
  }
  [[nodiscard]] std::vector<HeldOutRow> take() { return std::move(rows_); }

 private:
  [[nodiscard]] HeldOutRow row(HeldOutQuantity quantity, double at = 0.0) const {
    return {.group = group_.name, .runs = group_.runs.size(), .quantity = quantity, .at = at};
  }

  // The figure of all predicted runs, and where it lies for as few as were recorded.
  void predict(HeldOutRow& row, std::size_t recorded_runs, const Figure& figure) const {
    row.predicted = figure(predicted_);
    row.predicted_range = predicted_range(sets_, recorded_runs, figure);
  }

  void add_final() {
    HeldOutRow accuracy = row(HeldOutQuantity::final_accuracy);
    predict(accuracy, accuracy.runs, [](const PredictedRuns& runs) {
      return runs.diverged_share() < 1.0 ? std::optional(runs.mean_final()) : std::nullopt;
    });
    accuracy.recorded = group_.mean_final_accuracy();
    PureValues(fitted_on_, [](const RunGroup& group) {
      return group.mean_final_accuracy();
    }).put_nulls(plan_, accuracy);
    const std::optional<double> spread = group_.final_accuracy_deviation();
    add_mean_interval(accuracy, spread, accuracy.runs);
    rows_.push_back(accuracy);
    HeldOutRow deviation = row(HeldOutQuantity::final_deviation);
    predict(deviation, spread ? deviation.runs : 0,
            [](const PredictedRuns& runs) { return runs.final_deviation(); });
    deviation.recorded = spread;
    if (spread) deviation.recorded_interval = deviation_interval(*spread, deviation.runs);
    rows_.push_back(deviation);
  }

  void add_accuracy_at(double progress) {
    HeldOutRow accuracy = row(HeldOutQuantity::accuracy_at, progress);
    const double position = progress * plan_.workload_minibatches();
    predict(accuracy, curves_.runs.size(),
            [&](const PredictedRuns& runs) { return mean_accuracy_at(runs.runs, position); });
    accuracy.recorded = mean_accuracy_at(group_.runs, position);
    PureValues(fitted_on_, [&](const RunGroup& group) {
      return mean_accuracy_at(group.runs, progress * group.plan().workload_minibatches());
    }).put_nulls(plan_, accuracy);
    rows_.push_back(accuracy);
  }

  void add_threshold(double threshold) {
    const Reached recorded = reach(curves_, threshold);
    HeldOutRow time = row(HeldOutQuantity::time_to_accuracy, threshold);
    time.null_first = first_drop_null(predicted_, plan_, rates_);
    HeldOutRow median = time;
    predict(time, recorded.runs,
            [&](const PredictedRuns& runs) { return reach(runs, threshold).mean_time_s; });
    time.recorded = recorded.mean_time_s;
    add_mean_interval(time, recorded.time_sd_s, recorded.reached);
    rows_.push_back(time);
    median.quantity = HeldOutQuantity::median_time_to_accuracy;
    predict(median, recorded.runs,
            [&](const PredictedRuns& runs) { return reach(runs, threshold).median_time_s; });
    median.recorded = recorded.median_time_s;
    rows_.push_back(median);
    if (recorded.runs == 0) return;
    HeldOutRow share = row(HeldOutQuantity::share_reaching, threshold);
    predict(share, recorded.runs, [&](const PredictedRuns& runs) {
      const Reached reached = reach(runs, threshold);
      return std::optional(static_cast<double>(reached.reached) / static_cast<double>(reached.runs));
    });
    share.recorded = static_cast<double>(recorded.reached) / static_cast<double>(recorded.runs);
    share.recorded_interval =
        exact_interval(static_cast<int>(recorded.reached), static_cast<int>(recorded.runs));
    rows_.push_back(share);
  }

  // The null: the step of the runs fitted, scaled where they had other workers.
  void add_step_time(HeldOutQuantity quantity, std::optional<double> ClockRates::*protocol) {
    HeldOutRow time = row(quantity);
    time.predicted = step_times_of(predicted_.runs).*protocol;
    time.recorded = step_times_of(group_.runs).*protocol;
    time.null_linear = rates_.*protocol;
    if (time.predicted && time.recorded) rows_.push_back(time);
  }

  // The null: rates alone give total times. Recorded times may end before the job does.
  void add_total_time() {
    HeldOutRow time = row(HeldOutQuantity::total_time);
    std::vector<double> times;
    std::vector<double> timed;
    for (const TrainingRun& run : group_.runs) {
      if (!run.training_time_s) return;
      times.push_back(*run.training_time_s);
      timed.push_back(run.timed_minibatches.value_or(plan_.workload_minibatches()));
    }
    time.recorded = mean_of(times);
    const double share = *mean_of(timed) / plan_.workload_minibatches();
    predict(time, time.runs, [&](const PredictedRuns& runs) { return mean_total(runs, share); });
    time.null_linear = time_at(plan_, rates_, *mean_of(timed));
    rows_.push_back(time);
  }

  // Until this share of the workload is done, from the rate of the last phase.
  [[nodiscard]] std::optional<double> mean_total(const PredictedRuns& predicted, double share) const {
    const ClockRates rates = predicted.runs.front().phases.empty() ? rates_ : step_times(predicted);
    const PlanPhase& last = plan_.phases.back();
    const std::optional<double> rate =
        last.synchronous ? rates.synchronous_s_per_step : rates.asynchronous_s_per_step;
    const double untimed = (1.0 - share) * plan_.workload_minibatches() / plan_.minibatches_per_step(last);
    std::vector<double> times;
    for (const PredictedRun& run : predicted.runs)
      if (!run.accuracy.empty() && run.total_time_s)
        times.push_back(*run.total_time_s - untimed * rate.value_or(0.0));
    return mean_of(times);
  }

  std::span<const TracedGroup> fitted_on_;
  const RunGroup& group_;
  const TrainingPlan& plan_;
  ClockRates rates_;
  const PredictedRuns& predicted_;
  const PredictedRuns& sets_;  // where its ranges come from
  PredictedRuns curves_;       // recorded
  std::vector<HeldOutRow> rows_;
};

}  // namespace

std::string quantity_text(const HeldOutRow& row) {
  return fmt::format(fmt::runtime(description(row.quantity).text), row.at);
}

std::optional<double> error_of(const HeldOutRow& row, const std::optional<double>& predicted) {
  if (!predicted || !row.recorded) return std::nullopt;
  if (!description(row.quantity).relative) return *predicted - *row.recorded;
  if (*row.recorded <= 0.0) return std::nullopt;
  return *predicted / *row.recorded - 1.0;
}

std::string value_text(const std::optional<double>& value, HeldOutQuantity quantity) {
  return value ? fmt::format("{:.{}f}", *value, description(quantity).digits) : "-";
}

std::string error_text(const HeldOutRow& row, const std::optional<double>& predicted) {
  const std::optional<double> error = error_of(row, predicted);
  if (!error) return "-";
  return description(row.quantity).relative ? fmt::format("{:+.1f} %", 100.0 * *error)
                                            : fmt::format("{:+.4f}", *error);
}

ClockRates step_times(const PredictedRuns& runs) {
  return step_times_of(runs.runs);
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

std::vector<HeldOutRow> compare_held_out(const PredictedRuns& predicted,
                                         std::span<const TracedGroup> fitted_on, const RunGroup& recorded,
                                         std::span<const double> thresholds, const PredictedRuns* sets) {
  return GroupRows(predicted, fitted_on, recorded, thresholds, sets != nullptr ? *sets : predicted).take();
}

std::optional<double> mean_error(std::span<const HeldOutRow> rows, HeldOutQuantity quantity,
                                 std::optional<double> at, std::optional<double> HeldOutRow::*predicted) {
  std::map<std::pair<std::string, double>, std::pair<double, double>> by_policy;  // errors · runs, and runs
  for (const HeldOutRow& row : rows) {
    if (row.quantity != quantity || (at && row.at != *at)) continue;
    const std::optional<double> error = error_of(row, row.*predicted);
    if (!error) continue;
    auto& [errors, runs] = by_policy[{policy_of(row.group), row.at}];
    errors += *error * static_cast<double>(row.runs);
    runs += static_cast<double>(row.runs);
  }
  std::vector<double> errors;
  for (const auto& [policy, sums] : by_policy) errors.push_back(std::abs(sums.first / sums.second));
  return mean_of(errors);
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

// Rows of one group beside their null models, by hand.
#include "calibrate/learning/held_out.hpp"

#include <cmath>
#include <string>
#include <vector>

#include <doctest/doctest.h>

using namespace paceline;

namespace {

// 400 mini-batches of 4 workers, the rate dropped at 200; evaluated at 40, 80, 160, 240 and 400.
TrainingRun run_of(const std::string& group, std::vector<PlanPhase> phases, std::vector<double> accuracies,
                   double time_s) {
  TrainingRun run;
  run.name = run.group = group;
  run.plan.workers = 4;
  run.plan.phases = std::move(phases);
  run.plan.drops_minibatches = {200.0, 300.0};
  const std::vector<double> positions{40.0, 80.0, 160.0, 240.0, 400.0};
  for (std::size_t i = 0; i < positions.size(); ++i) run.accuracy.push_back({positions[i], accuracies.at(i)});
  run.final_accuracy = accuracies.back();
  for (const PlanPhase& phase : run.plan.phases)
    run.phases.push_back({phase.synchronous, phase.minibatches / (phase.synchronous ? 4.0 : 1.0),
                          phase.synchronous ? 0.4 : 0.05});
  run.training_time_s = time_s;
  return run;
}

RunGroup bsp_group() {
  return {"net-4/bsp", {run_of("net-4/bsp", {{true, 400.0}}, {0.2, 0.4, 0.5, 0.8, 0.9}, 40.0)}};
}
RunGroup asp_group() {
  return {"net-4/asp", {run_of("net-4/asp", {{false, 400.0}}, {0.1, 0.2, 0.3, 0.7, 0.8}, 20.0)}};
}
// A quarter synchronous: 10 s, then 15 s.
RunGroup hybrid() {
  const std::vector<PlanPhase> phases{{true, 100.0}, {false, 300.0}};
  return {"net-4/bsp25-asp75",
          {run_of("net-4/bsp25-asp75", phases, {0.2, 0.3, 0.4, 0.75, 0.86}, 25.0),
           run_of("net-4/bsp25-asp75", phases, {0.2, 0.3, 0.5, 0.85, 0.88}, 27.0)}};
}

// Three runs, the last of which is evaluated to less.
PredictedRuns predicted() {
  const Curve curve{{40.0, 0.1}, {80.0, 0.3}, {160.0, 0.5}, {240.0, 0.7}, {400.0, 0.9}};
  const std::vector<std::optional<double>> times{4.0, 8.0, 13.0, 17.0, 25.0};
  PredictedRun lower{curve, times, 25.0, {{true, 25.0, 0.4}, {false, 300.0, 0.06}}};
  PredictedRun run = lower;
  lower.accuracy.back().value = 0.6;
  return {.runs = {run, run, lower}};
}

std::vector<HeldOutRow> rows_of(const RunGroup& recorded, const PredictedRuns& runs) {
  const std::vector<TracedGroup> fitted = trace_groups({bsp_group(), asp_group()});
  const std::vector<double> thresholds{0.82};
  return compare_held_out(runs, fitted, recorded, thresholds);
}

const HeldOutRow& row_of(const std::vector<HeldOutRow>& rows, HeldOutQuantity quantity, double at = 0.0) {
  for (const HeldOutRow& row : rows)
    if (row.quantity == quantity && row.at == at) return row;
  FAIL("no such row");
  return rows.front();
}

}  // namespace

TEST_CASE("a final accuracy stands beside the pure runs', alone and in the share of synchronous work") {
  const std::vector<HeldOutRow> rows = rows_of(hybrid(), predicted());
  const HeldOutRow& row = row_of(rows, HeldOutQuantity::final_accuracy);
  CHECK(row.group == "net-4/bsp25-asp75");
  CHECK(row.runs == 2);
  CHECK(*row.predicted == doctest::Approx(0.8));
  CHECK(*row.recorded == doctest::Approx(0.87));
  CHECK(*row.null_first == doctest::Approx(0.9));
  CHECK(*row.null_linear == doctest::Approx(0.25 * 0.9 + 0.75 * 0.8));
  // Of two runs that differ by 0.02: 0.01 · t(95 %, 1) = 0.01 · 6.3138 to either side.
  CHECK(row.recorded_interval->low == doctest::Approx(0.87 - 0.063138).epsilon(1e-4));
  CHECK(row.recorded_interval->high == doctest::Approx(0.87 + 0.063138).epsilon(1e-4));
  // Draws of two of the three: all low, none low.
  CHECK(row.predicted_range->low == doctest::Approx(0.6));
  CHECK(row.predicted_range->high == doctest::Approx(0.9));
}

TEST_CASE(
    "a job that begins asynchronously takes after the asynchronous runs first, one of one kind after "
    "itself") {
  RunGroup turned = hybrid();
  for (TrainingRun& run : turned.runs) run.plan.phases = {{false, 300.0}, {true, 100.0}};
  const std::vector<HeldOutRow> rows = rows_of(turned, predicted());
  CHECK(*row_of(rows, HeldOutQuantity::final_accuracy).null_first == doctest::Approx(0.8));
  CHECK(*row_of(rows, HeldOutQuantity::final_accuracy).null_linear == doctest::Approx(0.825));
  const std::vector<HeldOutRow> pure = rows_of(bsp_group(), predicted());
  CHECK(*row_of(pure, HeldOutQuantity::final_accuracy).null_linear == doctest::Approx(0.9));
  // Without the pure runs of one protocol nothing lies between; mixed runs are no pure ones.
  const std::vector<TracedGroup> without = trace_groups({hybrid(), asp_group()});
  const std::vector<HeldOutRow> some = compare_held_out(predicted(), without, hybrid(), {});
  CHECK_FALSE(row_of(some, HeldOutQuantity::final_accuracy).null_linear.has_value());
  CHECK_FALSE(row_of(some, HeldOutQuantity::final_accuracy).null_first.has_value());
}

TEST_CASE("a deviation has the chi-square interval of its runs, and none of a single one") {
  // sd = 0.02 / √2; of one degree of freedom 95 % lie below 3.8415, 5 % below 0.0039321.
  const double sd = 0.02 / std::sqrt(2.0);
  const std::vector<HeldOutRow> rows = rows_of(hybrid(), predicted());
  const HeldOutRow& row = row_of(rows, HeldOutQuantity::final_deviation);
  CHECK(*row.recorded == doctest::Approx(sd));
  CHECK(*row.predicted == doctest::Approx(std::sqrt(0.03)));  // of 0.9, 0.9 and 0.6
  CHECK(row.recorded_interval->low == doctest::Approx(sd / std::sqrt(3.8415)).epsilon(1e-4));
  CHECK(row.recorded_interval->high == doctest::Approx(sd / std::sqrt(0.0039321)).epsilon(1e-4));
  const std::vector<HeldOutRow> single = rows_of(bsp_group(), predicted());
  CHECK_FALSE(row_of(single, HeldOutQuantity::final_deviation).recorded_interval.has_value());
  CHECK_FALSE(row_of(single, HeldOutQuantity::final_accuracy).recorded_interval.has_value());
}

TEST_CASE("accuracies are compared after 10, 20 and 40 % of the workload") {
  const std::vector<HeldOutRow> rows = rows_of(hybrid(), predicted());
  const HeldOutRow& early = row_of(rows, HeldOutQuantity::accuracy_at, 0.1);
  CHECK(*early.predicted == doctest::Approx(0.1));
  CHECK(*early.recorded == doctest::Approx(0.2));
  CHECK(*early.null_linear == doctest::Approx(0.25 * 0.2 + 0.75 * 0.1));
  const HeldOutRow& later = row_of(rows, HeldOutQuantity::accuracy_at, 0.4);
  CHECK(*later.predicted == doctest::Approx(0.5));
  CHECK(*later.recorded == doctest::Approx(0.45));
  CHECK(*later.null_first == doctest::Approx(0.5));
  CHECK(quantity_text(row_of(rows, HeldOutQuantity::accuracy_at, 0.2)) == "accuracy at 0.20 of the workload");
}

TEST_CASE("a threshold's time, its median, and the share of runs that reach it") {
  // Recorded: the first run at the evaluation at 400, after 10 + 15 s, the second at 240, after 10 + 7 s and
  // the 2 s that its recorded time is longer than its steps.
  const std::vector<HeldOutRow> rows = rows_of(hybrid(), predicted());
  const HeldOutRow& time = row_of(rows, HeldOutQuantity::time_to_accuracy, 0.82);
  CHECK(*time.recorded == doctest::Approx((25.0 + 19.0) / 2.0));
  CHECK(*time.predicted == doctest::Approx(25.0));
  // The first evaluation after the drop at 200 is at 240: 10 s at the steps of `bsp`, 140 of `asp`.
  CHECK(*time.null_first == doctest::Approx(10.0 + 7.0));
  // ± 6 / √2 / √2 · 6.3138
  CHECK(time.recorded_interval->high - time.recorded_interval->low ==
        doctest::Approx(2.0 * 3.0 * 6.3138).epsilon(1e-4));
  const HeldOutRow& median = row_of(rows, HeldOutQuantity::median_time_to_accuracy, 0.82);
  CHECK(*median.recorded == doctest::Approx(22.0));
  CHECK(*median.predicted == doctest::Approx(25.0));
  const HeldOutRow& share = row_of(rows, HeldOutQuantity::share_reaching, 0.82);
  CHECK(*share.predicted == doctest::Approx(2.0 / 3.0));
  CHECK(*share.recorded == 1.0);
  CHECK(share.recorded_interval->high == doctest::Approx(1.0));
  CHECK(share.recorded_interval->low < 0.6);
  // A constant rate has no drop to wait for.
  RunGroup constant = hybrid();
  for (TrainingRun& run : constant.runs) run.plan.drops_minibatches = {};
  CHECK_FALSE(
      row_of(rows_of(constant, predicted()), HeldOutQuantity::time_to_accuracy, 0.82).null_first.has_value());
}

TEST_CASE("steps and total times stand beside the rates of the runs fitted") {
  const std::vector<HeldOutRow> rows = rows_of(hybrid(), predicted());
  const HeldOutRow& synchronous = row_of(rows, HeldOutQuantity::synchronous_step_time);
  CHECK(*synchronous.predicted == doctest::Approx(0.4));
  CHECK(*synchronous.recorded == doctest::Approx(0.4));
  const HeldOutRow& asynchronous = row_of(rows, HeldOutQuantity::asynchronous_step_time);
  CHECK(*asynchronous.predicted == doctest::Approx(0.06));
  CHECK(*asynchronous.null_linear == doctest::Approx(0.05));
  const HeldOutRow& total = row_of(rows, HeldOutQuantity::total_time);
  CHECK(*total.predicted == doctest::Approx(25.0));
  CHECK(*total.recorded == doctest::Approx(26.0));
  CHECK(*total.null_linear == doctest::Approx(25.0));
  // Recorded until 300 of 400 mini-batches: the last 100 at 0.06 s are not predicted either.
  RunGroup timed = hybrid();
  for (TrainingRun& run : timed.runs) run.timed_minibatches = 300.0;
  const std::vector<HeldOutRow> until = rows_of(timed, predicted());
  CHECK(*row_of(until, HeldOutQuantity::total_time).predicted == doctest::Approx(25.0 - 6.0));
  CHECK(*row_of(until, HeldOutQuantity::total_time).null_linear == doctest::Approx(20.0));
  // Predicted runs that were not simulated take the rates of the runs fitted.
  PredictedRuns unsimulated = predicted();
  for (PredictedRun& run : unsimulated.runs) run.phases = {};
  CHECK(*row_of(rows_of(timed, unsimulated), HeldOutQuantity::total_time).predicted ==
        doctest::Approx(25.0 - 5.0));
  // Without a recorded time there is no row.
  timed.runs.back().training_time_s.reset();
  for (const HeldOutRow& row : rows_of(timed, predicted()))
    CHECK(row.quantity != HeldOutQuantity::total_time);
}

TEST_CASE("errors of times and deviations are relative, the others differences, and nothing has none") {
  HeldOutRow row{
      .group = "s/a", .quantity = HeldOutQuantity::total_time, .predicted = 110.0, .recorded = 100.0};
  CHECK(*error_of(row, row.predicted) == doctest::Approx(0.1));
  CHECK(error_text(row, row.predicted) == "+10.0 %");
  CHECK(value_text(row.predicted, row.quantity) == "110");
  row.recorded = 0.0;
  CHECK_FALSE(error_of(row, row.predicted).has_value());
  CHECK(error_text(row, row.predicted) == "-");
  HeldOutRow share{
      .group = "s/a", .quantity = HeldOutQuantity::final_accuracy, .predicted = 0.8, .recorded = 0.87};
  CHECK(*error_of(share, share.predicted) == doctest::Approx(-0.07));
  CHECK(error_text(share, share.predicted) == "-0.0700");
  CHECK(value_text(std::nullopt, share.quantity) == "-");
  CHECK_FALSE(error_of(share, std::nullopt).has_value());
}

TEST_CASE("deviations are compared by the root of the mean squared ratio") {
  // Predicted 2 and 1 times the recorded one: √((4 + 1) / 2). Other quantities do not count.
  const auto deviation = [](double predicted) {
    return HeldOutRow{.group = "s/a",
                      .quantity = HeldOutQuantity::final_deviation,
                      .predicted = predicted,
                      .recorded = 0.01};
  };
  const std::vector<HeldOutRow> rows{
      deviation(0.02),
      deviation(0.01),
      {.group = "s/a", .quantity = HeldOutQuantity::total_time, .predicted = 900.0, .recorded = 1.0}};
  CHECK(*deviation_ratio(rows) == doctest::Approx(std::sqrt(2.5)));
  CHECK_FALSE(deviation_ratio({}).has_value());
}

TEST_CASE("a mean error is of one quantity, and of one place where one is named") {
  const auto row = [](double at, double predicted) {
    return HeldOutRow{.group = "s/a",
                      .runs = 2,
                      .quantity = HeldOutQuantity::accuracy_at,
                      .at = at,
                      .predicted = predicted,
                      .recorded = 0.5};
  };
  const std::vector<HeldOutRow> rows{row(0.1, 0.6), row(0.2, 0.3), row(0.2, 0.2)};
  CHECK(*mean_error(rows, HeldOutQuantity::accuracy_at, 0.1) == doctest::Approx(0.1));
  CHECK(*mean_error(rows, HeldOutQuantity::accuracy_at, 0.2) == doctest::Approx(0.25));
  // Two places: 0.1 and 0.25.
  CHECK(*mean_error(rows, HeldOutQuantity::accuracy_at) == doctest::Approx(0.175));
  CHECK_FALSE(mean_error(rows, HeldOutQuantity::total_time).has_value());
}

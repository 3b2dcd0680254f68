#include "calibrate/validation/live_validation.hpp"

#include <algorithm>
#include <cmath>
#include <map>

#include <boost/math/distributions/students_t.hpp>
#include <fmt/format.h>

#include "sim/base/csv.hpp"
#include "sim/base/order_statistics.hpp"
#include "sim/cost/compute_time.hpp"
#include "sim/report/output/text_table.hpp"

namespace paceline {
namespace {

// Of each worker that computed.
std::vector<Observation> iteration_times(const RunResult& run) {
  std::map<std::uint64_t, std::vector<double>> times;
  for (const IterationRecord& iteration : run.iterations)
    if (iteration.compute_time) times[iteration.worker.value].push_back(iteration.compute_time->value());
  std::vector<Observation> all;
  for (auto& [worker, seconds] : times)
    all.push_back({fmt::format("iteration of worker {}", worker), "s", median(std::move(seconds))});
  return all;
}

// Where the controller has changed them.
std::vector<Observation> final_batches(const RunResult& run) {
  if (run.adjustments == 0) return {};
  std::map<std::uint64_t, std::int64_t> last;
  for (const BatchRecord& batch : run.batches) last[batch.worker.value] = batch.batch_samples;
  std::vector<Observation> all;
  for (const auto& [worker, batch] : last)
    all.push_back({fmt::format("final batch of worker {}", worker), "samples", static_cast<double>(batch)});
  return all;
}

// Where any gradient was stale.
std::vector<Observation> staleness_of_workers(const RunResult& run) {
  struct Sum {
    double gradients = 0.0;
    double staleness = 0.0;
  };
  std::map<std::uint64_t, Sum> sums;
  for (const auto& [worker_and_staleness, count] : run.staleness) {
    Sum& sum = sums[worker_and_staleness.first];
    sum.gradients += static_cast<double>(count);
    sum.staleness += static_cast<double>(count * worker_and_staleness.second);
  }
  std::vector<Observation> all;
  if (std::ranges::none_of(sums, [](const auto& sum) { return sum.second.staleness > 0.0; })) return all;
  for (const auto& [worker, sum] : sums)
    all.push_back(
        {fmt::format("mean staleness of worker {}", worker), "updates", sum.staleness / sum.gradients});
  return all;
}

using StalenessShares = std::map<std::pair<std::uint64_t, std::uint64_t>, double>;  // (worker, staleness)
StalenessShares staleness_shares(const std::vector<RunResult>& runs) {
  StalenessShares shares;
  for (const RunResult& run : runs)
    for (const auto& [worker_and_staleness, count] : run.staleness)
      shares[worker_and_staleness] +=
          static_cast<double>(count) /
          (static_cast<double>(run.gradients_applied) * static_cast<double>(runs.size()));
  return shares;
}

double distance(const StalenessShares& a, const StalenessShares& b) {
  StalenessShares difference = a;
  for (const auto& [key, share] : b) difference[key] -= share;
  double sum = 0.0;
  for (const auto& [key, share] : difference) sum += 0.5 * std::abs(share);
  return sum;
}

std::optional<double> value_of(const std::vector<Observation>& run, const std::string& quantity) {
  const auto found = std::ranges::find(run, quantity, &Observation::quantity);
  return found == run.end() ? std::nullopt : std::optional(found->value);
}

std::optional<double> error_of(std::vector<double> real, std::optional<double> predicted) {
  if (real.empty() || !predicted || *predicted == 0.0) return std::nullopt;
  return median(std::move(real)) / *predicted - 1.0;
}

double calibrated_rate(const Scenario& scenario, const Profiles& profiles) {
  const auto batch = static_cast<double>(scenario.batching.initial_samples);
  double rate = 0.0;
  for (const Seconds iteration : calibrated_iterations(scenario, profiles)) rate += batch / iteration.value();
  return rate;
}

// Quantiles of a few runs would be too narrow: those of five hold six of ten. Nothing that is observed is
// below 0.
Interval interval_of_next(const std::vector<double>& runs) {
  const Spread spread = spread_of(runs);
  const auto n = static_cast<double>(runs.size());
  const double half = boost::math::quantile(boost::math::students_t(n - 1.0), 1.0 - interval_tail) *
                      spread.deviation * std::sqrt(1.0 + 1.0 / n);
  return {std::max(0.0, spread.mean - half), spread.mean + half};
}

std::string range_text(const std::optional<Interval>& range) {
  return range ? fmt::format("{:.4g} - {:.4g}", range->low, range->high) : "-";
}

std::string error_text(std::optional<double> error) {
  return error ? fmt::format("{:+.1f} %", 100.0 * *error) : "-";
}

std::string ranking_text(const Ranking& ranking) {
  const std::optional<double> tau = ranking.tau();
  if (!tau) return fmt::format("by {}: no two scenarios are apart", ranking.quantity);
  return fmt::format(
      "by {}: {} of {} pairs of scenarios that are apart stand in the predicted order (tau {:.2f})",
      ranking.quantity, ranking.agreeing, ranking.agreeing + ranking.opposed, *tau);
}

}  // namespace

PredictedAndReal row_of_values(const std::vector<double>& predicted, const std::vector<RealValue>& runs) {
  std::vector<double> real;
  std::vector<double> at_usual_pace;
  for (const RealValue& run : runs) {
    real.push_back(run.value);
    if (run.is_at_usual_pace) at_usual_pace.push_back(run.value);
  }
  PredictedAndReal row;
  if (!predicted.empty()) {
    row.predicted = median(predicted);
    if (predicted.size() >= least_for_interval) row.interval = interval_of_next(predicted);
  }
  row.runs = real.size();
  row.runs_at_usual_pace = at_usual_pace.size();
  if (real.empty()) return row;
  row.real = median(real);
  row.range = {std::ranges::min(real), std::ranges::max(real)};
  row.error = error_of(real, row.predicted);
  row.error_at_usual_pace = error_of(std::move(at_usual_pace), row.predicted);
  if (row.interval)
    row.inside = static_cast<std::size_t>(std::ranges::count_if(
        real, [&](double value) { return value >= row.interval->low && value <= row.interval->high; }));
  return row;
}

std::vector<Seconds> calibrated_iterations(const Scenario& scenario, const Profiles& profiles) {
  const ComputeTimes times(profiles.distinct, profiles.of_worker, scenario.cluster.workers, {},
                           {scenario.seed, 0}, scenario.job.data_loading);
  std::vector<Seconds> iterations;
  for (std::uint64_t w = 0; w < times.worker_count(); ++w)
    iterations.push_back(times.mean_iteration(WorkerId{w}, scenario.batching.initial_samples));
  return iterations;
}

Seconds quickest_iteration(const Scenario& scenario, const Profiles& profiles) {
  return std::ranges::min(calibrated_iterations(scenario, profiles));
}

std::vector<Observation> observations_of(const RunResult& run) {
  std::vector<Observation> all = iteration_times(run);
  const double end = run.end_time.value();
  if (end > 0.0) {
    all.push_back({"updates a second", "1/s", static_cast<double>(run.updates) / end});
    all.push_back({rate_quantity, "1/s", static_cast<double>(run.samples) / end});
  }
  all.push_back({"mean staleness", "updates", run.mean_staleness()});
  for (Observation& worker : staleness_of_workers(run)) all.push_back(std::move(worker));
  for (Observation& batch : final_batches(run)) all.push_back(std::move(batch));
  if (!run.curve.empty()) all.push_back({"final accuracy", share_unit, run.curve.back().accuracy});
  if (run.time_to_accuracy) all.push_back({time_quantity, "s", run.time_to_accuracy->value()});
  all.push_back({"total time", "s", end});
  return all;
}

LiveComparison compare_live(const Scenario& scenario, const Profiles& profiles,
                            const std::vector<RunResult>& predicted, const std::vector<live::RealRun>& real) {
  const StalenessShares shares = staleness_shares(predicted);
  const bool is_any_stale =
      std::ranges::any_of(shares, [](const auto& share) { return share.first.second > 0; });
  const auto observed = [&](const RunResult& run) {
    std::vector<Observation> all = observations_of(run);
    if (is_any_stale)
      all.push_back({distance_quantity, share_unit, distance(staleness_shares({run}), shares)});
    return all;
  };
  std::vector<std::vector<Observation>> of_predicted;
  for (const RunResult& run : predicted) of_predicted.push_back(observed(run));
  std::vector<std::vector<Observation>> of_real;
  for (const live::RealRun& run : real) of_real.push_back(observed(run.result));
  std::vector<Observation> quantities;  // in the order in which they first appear
  for (const auto* runs : {&of_predicted, &of_real})
    for (const std::vector<Observation>& run : *runs)
      for (const Observation& one : run)
        if (std::ranges::find(quantities, one.quantity, &Observation::quantity) == quantities.end())
          quantities.push_back(one);
  LiveComparison comparison{scenario.name, {}};
  for (const Observation& one : quantities) {
    std::vector<double> predicted_values;
    for (const std::vector<Observation>& run : of_predicted)
      if (const std::optional<double> value = value_of(run, one.quantity)) predicted_values.push_back(*value);
    std::vector<RealValue> real_values;
    for (std::size_t r = 0; r < real.size(); ++r)
      if (const std::optional<double> value = value_of(of_real[r], one.quantity))
        real_values.push_back({*value, real[r].machine && real[r].machine->is_as_usual()});
    PredictedAndReal row = row_of_values(predicted_values, real_values);
    row.scenario = scenario.name;
    row.quantity = one.quantity;
    row.unit = one.unit;
    if (one.quantity == distance_quantity) row.error = row.error_at_usual_pace = std::nullopt;
    if (one.unit == share_unit && row.interval) row.interval->high = std::min(1.0, row.interval->high);
    if (one.quantity == rate_quantity) row.null_model = calibrated_rate(scenario, profiles);
    comparison.rows.push_back(std::move(row));
  }
  return comparison;
}

Ranking ranking_of(const std::vector<LiveComparison>& all, const std::string& quantity) {
  std::vector<const PredictedAndReal*> rows;
  for (const LiveComparison& comparison : all)
    for (const PredictedAndReal& row : comparison.rows)
      if (row.quantity == quantity && row.real && row.predicted) rows.push_back(&row);
  Ranking ranking{.quantity = quantity};
  for (std::size_t a = 0; a < rows.size(); ++a)
    for (std::size_t b = a + 1; b < rows.size(); ++b) {
      const bool are_apart =
          rows[a]->range->high < rows[b]->range->low || rows[b]->range->high < rows[a]->range->low;
      if (!are_apart) continue;
      const bool is_agreed = (*rows[a]->real < *rows[b]->real) == (*rows[a]->predicted < *rows[b]->predicted);
      ++(is_agreed ? ranking.agreeing : ranking.opposed);
    }
  return ranking;
}

std::string live_validation_text(const std::vector<LiveComparison>& all) {
  std::string text;
  for (const LiveComparison& comparison : all) {
    TextRows rows = {{comparison.scenario, "predicted", "90 % interval", "real", "runs from - to", "error",
                      "at usual pace", "inside", "null model"}};
    for (const PredictedAndReal& row : comparison.rows)
      rows.push_back({fmt::format("{} [{}]", row.quantity, row.unit), or_dash("{:.4g}", row.predicted),
                      range_text(row.interval), or_dash("{:.4g}", row.real), range_text(row.range),
                      error_text(row.error),
                      row.error_at_usual_pace ? fmt::format("{} ({})", error_text(row.error_at_usual_pace),
                                                            row.runs_at_usual_pace)
                                              : "-",
                      row.interval ? fmt::format("{}/{}", row.inside, row.runs) : "-",
                      or_dash("{:.4g}", row.null_model)});
    text += text_table(std::move(rows)) + "\n";
  }
  for (const char* quantity : {time_quantity, rate_quantity})
    if (all.size() > 1) text += "ranking " + ranking_text(ranking_of(all, quantity)) + "\n";
  return text;
}

std::string live_validation_csv(const std::vector<LiveComparison>& all) {
  CsvTable csv({"scenario", "quantity", "unit", "predicted", "predicted_low", "predicted_high", "real",
                "real_least", "real_most", "error", "runs", "inside", "null_model", "runs_at_usual_pace",
                "error_at_usual_pace"});
  const auto add_range = [&](const std::optional<Interval>& range) {
    csv.add(range ? std::optional(range->low) : std::nullopt);
    csv.add(range ? std::optional(range->high) : std::nullopt);
  };
  for (const LiveComparison& comparison : all)
    for (const PredictedAndReal& row : comparison.rows) {
      csv.add(row.scenario);
      csv.add(row.quantity);
      csv.add(row.unit);
      csv.add(row.predicted);
      add_range(row.interval);
      csv.add(row.real);
      add_range(row.range);
      csv.add(row.error);
      csv.add(row.runs);
      csv.add(row.inside);
      csv.add(row.null_model);
      csv.add(row.runs_at_usual_pace);
      csv.add(row.error_at_usual_pace);
      csv.end_row();
    }
  return csv.text();
}

std::string live_verdict(const std::vector<LiveComparison>& all) {
  std::size_t inside = 0;
  std::size_t runs = 0;
  const PredictedAndReal* worst = nullptr;
  for (const LiveComparison& comparison : all)
    for (const PredictedAndReal& row : comparison.rows) {
      if (row.interval) {
        inside += row.inside;
        runs += row.runs;
      }
      if (row.error && (worst == nullptr || std::abs(*row.error) > std::abs(*worst->error))) worst = &row;
    }
  return fmt::format("{} of {} real values lie inside predicted 90 % intervals{}", inside, runs,
                     worst == nullptr ? ""
                                      : fmt::format("; largest error {:+.1f} % ({}, {})",
                                                    100.0 * *worst->error, worst->scenario, worst->quantity));
}

}  // namespace paceline

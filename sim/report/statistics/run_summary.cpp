#include "sim/report/statistics/run_summary.hpp"

#include <algorithm>
#include <cmath>

#include <fmt/format.h>

namespace paceline {

std::string_view Outcomes::word(bool has_target) const {
  if (2 * diverged > runs) return "diverges";
  if (2 * stalled > runs) return "stalls";
  if (has_target) return 2 * reached > runs ? "reached" : "never";
  return 2 * done > runs ? "done" : "never";
}

std::string Outcomes::shortfall(bool has_target) const {
  std::string text;
  const auto add = [&](int count, const char* what) {
    if (count > 0) text += fmt::format("{}{} {}", text.empty() ? "" : ", ", count, what);
  };
  add(diverged, "diverged");
  add(stalled, "stalled");
  if (has_target) add(done, "never reached");
  return text;
}

Outcomes count_outcomes(const std::vector<RunSummary>& runs) {
  Outcomes outcomes{.runs = static_cast<int>(runs.size())};
  for (const RunSummary& run : runs) {
    if (run.time_to_accuracy)
      ++outcomes.reached;
    else if (run.end_reason == "diverged")
      ++outcomes.diverged;
    else if (run.end_reason == "stalled")
      ++outcomes.stalled;
    else
      ++outcomes.done;
  }
  return outcomes;
}

namespace {

std::optional<double> price_per_hour(const Cluster& cluster) {
  std::optional<double> sum;
  for (const Worker& worker : cluster.workers)
    if (worker.price_per_hour) sum = sum.value_or(0.0) + *worker.price_per_hour;
  return sum;
}

}  // namespace

Comparable comparable_of(const Scenario& scenario) {
  return {.name = scenario.name,
          .target_accuracy = scenario.stop.accuracy,
          .workload_epochs = scenario.stop.epochs,
          .epoch_samples = scenario.job.dataset.train_samples,
          .has_assumed_learner = scenario.learner.kind == LearnerKind::assumed,
          .price_per_hour = price_per_hour(scenario.cluster)};
}

RunSummary summary_of(const RunResult& run) {
  constexpr double seconds_per_hour = 3600.0;
  RunSummary summary{.seed = run.seed,
                     .end_reason = run.end_reason,
                     .time_to_accuracy = run.time_to_accuracy,
                     .end_time = run.end_time,
                     .final_loss = {},
                     .final_accuracy = {},
                     .best_accuracy = {},
                     .updates = run.updates,
                     .samples = run.samples,
                     .gradients_started = run.gradients_started,
                     .mean_staleness = run.mean_staleness(),
                     .mean_shard_staleness = run.mean_shard_staleness(),
                     .staleness_max = {},
                     .batch_min = {},
                     .batch_max = {},
                     .adjustments = run.adjustments,
                     .mean_imbalance = run.mean_imbalance(),
                     .mean_batch_growth = run.mean_batch_growth(),
                     .mean_lag = run.mean_lag(),
                     .evaluation_interval = run.evaluation_interval(),
                     .core_hours = run.cores * run.end_time.value() / seconds_per_hour};
  for (const auto& [key, count] : run.staleness)
    summary.staleness_max = std::max<std::uint64_t>(summary.staleness_max.value_or(0), key.second);
  for (const BatchRecord& record : run.batches) {
    summary.batch_min = std::min(summary.batch_min.value_or(record.batch_samples), record.batch_samples);
    summary.batch_max = std::max(summary.batch_max.value_or(record.batch_samples), record.batch_samples);
  }
  if (run.curve.empty()) return summary;
  const CurvePoint& last = run.curve.back();
  if (std::isfinite(last.loss)) summary.final_loss = last.loss;
  summary.final_accuracy = last.accuracy;
  summary.best_accuracy = 0.0;
  for (const CurvePoint& point : run.curve)
    summary.best_accuracy = std::max(*summary.best_accuracy, point.accuracy);
  return summary;
}

std::vector<ValidityRow> validity_in(const std::vector<RunSummary>& runs, std::vector<ValidityRow> rows) {
  std::vector<double> staleness;
  std::vector<double> batches;
  const auto add = [](const auto& value, std::vector<double>& to) {
    if (value) to.push_back(static_cast<double>(*value));
  };
  for (const RunSummary& run : runs) {
    add(run.staleness_max, staleness);
    add(run.batch_min, batches);
    add(run.batch_max, batches);
  }
  for (ValidityRow& row : rows) {
    if (row.quantity == batch_quantity && !batches.empty())
      row.used = {std::ranges::min(batches), std::ranges::max(batches)};
    if (row.quantity == staleness_quantity && !staleness.empty())
      row.used = {0.0, std::ranges::max(staleness)};
  }
  return rows;
}

std::vector<RunSummary> summaries_of(const std::vector<RunResult>& runs) {
  std::vector<RunSummary> summaries;
  for (const RunResult& run : runs) summaries.push_back(summary_of(run));
  return summaries;
}

}  // namespace paceline

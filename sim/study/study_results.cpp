#include "sim/study/study_results.hpp"

#include <algorithm>

#include <fmt/format.h>

#include "sim/base/check.hpp"
#include "sim/base/csv.hpp"
#include "sim/report/output/columns.hpp"

namespace paceline {
namespace {

std::size_t metric_index(const std::string& name) {
  const std::vector<std::string>& names = run_metric_names();
  const auto found = std::ranges::find(names, name);
  check(found != names.end(), "a metric that is kept of every run");
  return static_cast<std::size_t>(found - names.begin());
}

void add_cell(CsvTable& table, const sqlite::Cell& cell) {
  if (const auto* whole = std::get_if<std::int64_t>(&cell)) {
    table.add(*whole);
  } else if (const auto* number = std::get_if<double>(&cell)) {
    table.add(*number);
  } else if (const auto* text = std::get_if<std::string>(&cell)) {
    table.add(std::string_view(*text));
  } else {
    table.add(std::string_view());
  }
}

// The column of the combination tells it then.
bool varies_seed(const PlannedStudy& study) {
  return std::ranges::find(study.columns, "seed") != study.columns.end();
}

std::vector<std::string> csv_columns(const PlannedStudy& study) {
  std::vector<std::string> columns{"point"};
  columns.insert(columns.end(), study.columns.begin(), study.columns.end());
  columns.emplace_back("replication");
  if (!varies_seed(study)) columns.emplace_back("seed");
  columns.insert(columns.end(), {"assumed_learner", "run", "status"});
  const std::vector<std::string>& metrics = run_metric_names();
  columns.insert(columns.end(), metrics.begin(), metrics.end());
  columns.emplace_back("message");
  return columns;
}

// A stalled job is a result, but not the one asked for.
bool is_stalled(const StoredRun& run) {
  const auto* reason = std::get_if<std::string>(&run.metrics[metric_index("end_reason")]);
  return reason != nullptr && *reason == "stalled";
}

RunSummary summary_of(const PlannedPoint& point, const StoredRun& run) {
  RunSummary summary;
  summary.seed = {point.seed, run.replication};
  if (const auto* reason = std::get_if<std::string>(&run.metrics[metric_index("end_reason")]))
    summary.end_reason = *reason;
  if (const auto time = metric(run, "time_to_accuracy_s")) summary.time_to_accuracy = Seconds{*time};
  summary.end_time = Seconds{metric(run, "end_time_s").value_or(0.0)};
  summary.samples = static_cast<std::int64_t>(metric(run, "samples").value_or(0.0));
  summary.final_accuracy = metric(run, "final_accuracy");
  summary.mean_staleness = metric(run, "mean_staleness").value_or(0.0);
  summary.evaluation_interval = Seconds{metric(run, "evaluation_interval_s").value_or(0.0)};
  return summary;
}

}  // namespace

std::optional<double> metric(const StoredRun& run, const std::string& name) {
  const sqlite::Cell& cell = run.metrics[metric_index(name)];
  if (const auto* whole = std::get_if<std::int64_t>(&cell)) return static_cast<double>(*whole);
  if (const auto* number = std::get_if<double>(&cell)) return *number;
  return std::nullopt;
}

std::string runs_csv(const PlannedStudy& study, RunStore& store) {
  CsvTable table(csv_columns(study));
  store.for_each_run([&](const StoredRun& run) {
    const PlannedPoint& point = study.points.at(run.point);
    table.add(run.point + 1);
    for (const std::string& label : point.labels) table.add(std::string_view(label));
    table.add(run.replication);
    if (!varies_seed(study)) table.add(point.seed);
    table.add(point.has_assumed_learner ? 1 : 0);
    table.add(std::string_view(run.id)).add(to_text(run.status));
    for (const sqlite::Cell& cell : run.metrics) add_cell(table, cell);
    table.add(std::string_view(run.message)).end_row();
  });
  return table.text();
}

std::vector<ComparedRuns> compared_runs(const PlannedStudy& study, RunStore& store,
                                        std::vector<std::size_t>* point_of) {
  std::vector<ComparedRuns> compared;
  std::optional<std::size_t> current;
  store.for_each_run([&](const StoredRun& run) {
    if (run.status != RunStatus::done) return;
    const PlannedPoint& point = study.points.at(run.point);
    if (current != run.point) {
      current = run.point;
      compared.push_back({.name = point.name,
                          .target_accuracy = point.target_accuracy,
                          .workload_epochs = point.workload_epochs,
                          .epoch_samples = point.epoch_samples,
                          .has_assumed_learner = point.has_assumed_learner,
                          .runs = {},
                          .bottleneck = {},
                          .expectations = {}});
      if (point_of != nullptr) point_of->push_back(run.point);
    }
    compared.back().runs.push_back(summary_of(point, run));
  });
  return compared;
}

std::vector<std::string> failures(const PlannedStudy& study, RunStore& store) {
  std::vector<std::string> lines;
  store.for_each_run([&](const StoredRun& run) {
    if (run.status == RunStatus::failed || (run.status == RunStatus::done && is_stalled(run)))
      lines.push_back(fmt::format("{}, replication {}: {}", study.points.at(run.point).name, run.replication,
                                  run.message));
  });
  return lines;
}

}  // namespace paceline

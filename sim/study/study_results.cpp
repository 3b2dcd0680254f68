#include "sim/study/study_results.hpp"

#include <algorithm>
#include <map>

#include <fmt/format.h>

#include "sim/report/output/record_columns.hpp"
#include "sim/study/study_runs.hpp"

namespace paceline {
namespace {

std::optional<double> cost_to_target(const PlannedPoint& point, const RunSummary& run) {
  const ComparedRuns one{point, {run}};
  return cost_of(one, median_time(one));
}

}  // namespace

Columns<RunRow> runs_columns(const std::vector<std::string>& varied, bool has_prices) {
  Columns<RunRow> columns = {
      {"point", "-", "the combination, from 1", [](const RunRow& row) { return row.run.point + 1; }}};
  for (std::size_t c = 0; c < varied.size(); ++c)
    columns.emplace_back(varied[c], "-", "label of what is varied",
                         [c](const RunRow& row) { return row.point.labels.at(c); });
  columns.emplace_back("replication", "-", "from 0", [](const RunRow& row) { return row.run.replication; });
  // A study that varies the seed has it among the varied names.
  if (std::ranges::find(varied, "seed") == varied.end())
    columns.emplace_back("seed", "-", "the scenario's; unless it is varied, and so among the varied names",
                         [](const RunRow& row) { return row.point.seed; });
  columns.emplace_back("assumed_learner", "0 or 1", "whether no recorded runs stand behind its accuracies",
                       [](const RunRow& row) { return row.point.has_assumed_learner ? 1 : 0; });
  columns.emplace_back("run", "-", "id: the same for the same content",
                       [](const RunRow& row) { return row.run.id; });
  columns.emplace_back("status", "-", "done, failed or missing",
                       [](const RunRow& row) { return std::string(to_string(row.run.status)); });
  for (const Column<RunSummary>& column : summary_columns())
    columns.emplace_back(column.name, column.unit, column.meaning, [value = column.value](const RunRow& row) {
      return row.run.summary ? value(*row.run.summary, {}) : Cell();
    });
  if (has_prices)
    columns.emplace_back("cost_to_target", "-",
                         "of all workers until the target, or without one until the end of the work; empty: "
                         "never; no such column without prices",
                         [](const RunRow& row) {
                           return row.run.summary ? cost_to_target(row.point, *row.run.summary)
                                                  : std::nullopt;
                         });
  columns.emplace_back("message", "-", "why it failed or stalled, or remarks on it",
                       [](const RunRow& row) { return row.run.message; });
  return columns;
}

std::string runs_csv(const PlannedStudy& study, RunStore& store) {
  const Columns<RunRow> columns =
      runs_columns(study.columns, std::ranges::any_of(study.points, [](const PlannedPoint& point) {
                     return point.price_per_hour.has_value();
                   }));
  CsvTable csv(names_of(columns));
  store.for_each_run([&](const StoredRun& run) {
    add_cells(csv, columns, RunRow{study.points.at(run.point), run});
    csv.end_row();
  });
  return csv.text();
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
      compared.push_back({point, {}, study.conditions_text(point.labels)});
      compared.back().choice = study.choice_text(point.labels);
      if (point_of != nullptr) point_of->push_back(run.point);
    }
    compared.back().runs.push_back(*run.summary);
    compared.back().runs.back().seed = {point.seed, run.replication};
  });
  for (ComparedRuns& one : compared) one.validity = validity_in(one.runs, std::move(one.validity));
  return compared;
}

std::vector<std::string> remarks_in(const PlannedStudy& study, RunStore& store) {
  constexpr std::size_t most_lines = 5;
  std::map<std::string, std::size_t> remarks;  // and how many runs have it
  std::size_t runs = 0;
  store.for_each_run([&](const StoredRun& run) {
    if (run.status != RunStatus::done || run.message.empty()) return;
    ++remarks[run.message];
    ++runs;
  });
  if (remarks.size() > most_lines)
    return {fmt::format("{} runs have remarks: see the column `message` of {}", runs, runs_file)};
  Notes notes;
  for (const auto& [text, count] : remarks) notes.add({text}, count);
  return notes.lines(study.run_count());
}

std::vector<std::string> columns_without_effect(const PlannedStudy& study, RunStore& store) {
  // What each run gave, by what else was varied, then by label.
  using Given = std::map<std::uint32_t, std::vector<Cell>>;
  std::vector<std::map<std::vector<std::string>, std::map<std::string, Given>>> by_column(
      study.columns.size());
  const Columns<RunSummary> columns = summary_columns();
  store.for_each_run([&](const StoredRun& run) {
    if (!run.summary) return;
    std::vector<Cell> cells;
    for (const Column<RunSummary>& column : columns) cells.push_back(column.value(*run.summary, {}));
    const std::vector<std::string>& labels = study.points.at(run.point).labels;
    for (std::size_t c = 0; c < labels.size(); ++c) {
      std::vector<std::string> others = labels;
      others.erase(others.begin() + static_cast<std::ptrdiff_t>(c));
      by_column[c][others][labels[c]][run.replication] = cells;
    }
  });
  std::vector<std::string> idle;
  for (std::size_t c = 0; c < by_column.size(); ++c) {
    const auto are_equal = [](const auto& group) {
      const auto& [others, labels] = group;
      return labels.size() > 1 && std::ranges::all_of(labels, [&](const auto& label) {
               return label.second == labels.begin()->second;
             });
    };
    if (!by_column[c].empty() && std::ranges::all_of(by_column[c], are_equal))
      idle.push_back(study.columns[c]);
  }
  return idle;
}

std::string no_effect_text(const std::string& column) {
  return fmt::format("`{}` has no effect: each of its values gives the same runs", column);
}

std::vector<std::string> failures(const PlannedStudy& study, RunStore& store) {
  std::vector<std::string> lines;
  store.for_each_run([&](const StoredRun& run) {
    // A stalled job is a result, but not the one asked for.
    if (run.status == RunStatus::failed || (run.summary && run.summary->end_reason == "stalled"))
      lines.push_back(fmt::format("{}, replication {}: {}", study.points.at(run.point).name, run.replication,
                                  run.message));
  });
  return lines;
}

}  // namespace paceline

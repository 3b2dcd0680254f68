#include "sim/report/output/result_files.hpp"

#include <algorithm>
#include <array>

#include "sim/report/output/record_columns.hpp"

namespace paceline {
namespace {

const ColumnText replication{"replication", "-",
                             "from 0; runs of one replication share their seed over the variants of a study"};

bool always(const ScenarioResults&) {
  return true;
}

// A table with a row for each of the records that `records_of` takes from a run.
template <class Record, class RecordsOf>
ResultFile table_of(std::string name, std::string content, const RunColumns<Record>& columns,
                    const RecordsOf& records_of, bool (*is_wanted)(const ScenarioResults&) = always) {
  ResultFile file{std::move(name), std::move(content), {replication}, {}};
  file.columns.insert(file.columns.end(), columns.begin(), columns.end());
  std::vector<std::string> names;
  for (const ColumnText& column : file.columns) names.push_back(column.name);
  file.text = [=, &columns](const ScenarioResults& results) -> std::string {
    if (!is_wanted(results)) return {};
    CsvTable csv(names);
    for (const RunResult& run : results.runs) {
      const RunContext context{results, run};
      for (const Record& record : std::invoke(records_of, run)) {
        csv.add(run.seed.replication);
        add_cells(csv, columns, record, context);
        csv.end_row();
      }
    }
    return csv.text();
  };
  return file;
}

const RunColumns<RunSummary>& summary_file_columns() {
  static const RunColumns<RunSummary> columns = [] {
    RunColumns<RunSummary> all = {{"seed", "-",
                                   "the scenario's; with the replication it keys every random number",
                                   [](const RunSummary& run) { return run.seed.seed; }}};
    const Columns<RunSummary>& kept = summary_columns();
    for (std::size_t i = 0; i + columns_of_studies_alone < kept.size(); ++i)
      all.emplace_back(kept[i].name, kept[i].unit, kept[i].meaning,
                       [value = kept[i].value](const RunSummary& run) { return value(run, {}); });
    return all;
  }();
  return columns;
}

std::vector<ActivitySpan> traced_activities(const RunResult& run) {
  return run.trace ? run.trace->activities : std::vector<ActivitySpan>{};
}

std::vector<ResultFile> all_files() {
  const RecordColumns& columns = record_columns();
  return {
      {"manifest.json",
       "everything that determines the results: resolved scenario, seed, versions, profile and its hash, "
       "network model, notes, runs that could not be carried out, the command"},
      {"run-info.json",
       "date, host, jobs, wall time, memory, with `--self-profile` where the time went: the only file that "
       "differs between equal runs"},
      {"summary.json",
       "reached, P(reach) with its interval, median, Kaplan-Meier median and 90 % prediction interval of the "
       "time, restricted mean; the bottleneck; expectations and their outcomes"},
      {"trace.json",
       "with `--trace`: replication 0 in the Chrome trace event format; open it at ui.perfetto.dev or in "
       "chrome://tracing"},
      table_of("summary.csv", "one row for each replication", summary_file_columns(),
               [](const RunResult& run) { return std::vector{summary_of(run)}; }),
      table_of("curve.csv", "one row for each evaluation", columns.curve, &RunResult::curve),
      table_of("batches.csv",
               "batch sizes at the start and at each adjustment, what was wanted and what limited it",
               columns.batches, &RunResult::batches),
      table_of(
          "balance.csv",
          "how far the slowest iteration is from the best division of the same total batch; reaction lag",
          columns.balance, &RunResult::balances),
      table_of("workers.csv", "what each worker contributed, and its passes over its data", columns.workers,
               worker_shares),
      table_of("staleness.csv", "how many of a worker's gradients were applied with which staleness",
               columns.staleness, staleness_counts),
      table_of("phases.csv", "one row for each phase of each replication", columns.phases,
               &RunResult::phases),
      table_of("decisions.csv",
               "with `reaction`: what the switch policy noticed and did, and what it had seen",
               columns.decisions, &RunResult::decisions,
               [](const ScenarioResults& results) { return results.loaded.scenario.reaction.has_value(); }),
      table_of("attribution.csv", "what each worker's time went into: sums to the makespan, and to 100 %",
               columns.attribution, attributions),
      table_of("bottlenecks.csv", "servers and links: how long in use, how long to their full rate",
               columns.bottlenecks, &RunResult::resources),
      table_of("iterations.csv", "with `--iterations`: one row for each iteration", columns.iterations,
               &RunResult::iterations,
               [](const ScenarioResults& results) { return results.recording.iterations; }),
      table_of("activities.csv", "with `--trace`: every activity of every worker of replication 0",
               columns.activities, traced_activities,
               [](const ScenarioResults& results) { return results.runs.front().trace.has_value(); })};
}

}  // namespace

const std::vector<ResultFile>& result_files() {
  static const std::vector<ResultFile> files = all_files();
  return files;
}

bool is_result_file(std::string_view name) {
  constexpr std::array of_study = {"runs.csv", "comparison.csv", "submit.sbatch"};
  if (std::ranges::count(of_study, name) + std::ranges::count(result_files(), name, &ResultFile::name) > 0)
    return true;
  // The runs of a study or of one of its parts (shard-2-of-8.sqlite) with their logs; and what a part
  // printed.
  if ((name.starts_with("shard-") || name.starts_with("study.sqlite")) && name.find(".sqlite") != name.npos)
    return true;
  return name.starts_with("task-") && name.ends_with(".log");
}

}  // namespace paceline

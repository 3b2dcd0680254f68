// The records that a run leaves, column by column.
#pragma once

#include "sim/report/output/column.hpp"
#include "sim/report/output/results_folder.hpp"
#include "sim/report/statistics/run_summary.hpp"

namespace paceline {

// Where a record stands.
struct RunContext {
  const ScenarioResults& results;
  const RunResult& run;
};

template <class Record>
using RunColumns = Columns<Record, RunContext>;

struct WorkerShare {
  WorkerId worker;
  std::uint64_t gradients = 0;
  std::int64_t samples = 0;
};

struct StalenessCount {
  WorkerId worker;
  std::uint64_t staleness = 0;
  std::uint64_t gradients = 0;
};

struct Attribution {
  WorkerId worker;
  ActivityTimes times{};
};

struct RecordColumns {
  RunColumns<CurvePoint> curve;
  RunColumns<BatchRecord> batches;
  RunColumns<BalanceRecord> balance;
  RunColumns<WorkerShare> workers;
  RunColumns<StalenessCount> staleness;
  RunColumns<PhaseRecord> phases;
  RunColumns<DecisionRecord> decisions;
  RunColumns<Attribution> attribution;
  RunColumns<ResourceUse> bottlenecks;
  RunColumns<IterationRecord> iterations;
  RunColumns<ActivitySpan> activities;
  RunColumns<ServerSpan> server_work;  // of the trace, in no file of its own
};
[[nodiscard]] const RecordColumns& record_columns();

// What is kept of every run of a study. All but the last two, with the seed before them, are those of
// summary.csv.
[[nodiscard]] const Columns<RunSummary>& summary_columns();
inline constexpr std::size_t columns_of_studies_alone = 2;

[[nodiscard]] std::vector<WorkerShare> worker_shares(const RunResult& run);
[[nodiscard]] std::vector<StalenessCount> staleness_counts(const RunResult& run);
[[nodiscard]] std::vector<Attribution> attributions(const RunResult& run);

// The scenario's own word for what a phase does: its `policy` or its `transport`.
[[nodiscard]] std::string phase_word(const LoadedScenario& loaded, std::uint64_t phase, const char* key);

}  // namespace paceline

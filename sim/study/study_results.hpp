// What a study's folder holds besides its store, written from the store alone.
#pragma once

#include <string>
#include <vector>

#include "sim/report/output/column.hpp"
#include "sim/report/statistics/comparison.hpp"
#include "sim/study/store/run_store.hpp"

namespace paceline {

inline constexpr const char* store_file = "study.sqlite";
inline constexpr const char* runs_file = "runs.csv";

struct RunRow {
  const PlannedPoint& point;
  const StoredRun& run;
};
[[nodiscard]] Columns<RunRow> runs_columns(const std::vector<std::string>& varied, bool has_prices = false);

// One row for each planned run, in the order of the plan.
[[nodiscard]] std::string runs_csv(const PlannedStudy& study, RunStore& store);

// The finished runs of each combination that has any, in the order of the plan; `point_of` gets their
// combinations.
[[nodiscard]] std::vector<ComparedRuns> compared_runs(const PlannedStudy& study, RunStore& store,
                                                      std::vector<std::size_t>* point_of = nullptr);

// What was remarked on single runs, each text once with how many runs it is about; where there are many,
// where they stand.
[[nodiscard]] std::vector<std::string> remarks_in(const PlannedStudy& study, RunStore& store);

// What is varied and changes no run that is done.
[[nodiscard]] std::vector<std::string> columns_without_effect(const PlannedStudy& study, RunStore& store);
[[nodiscard]] std::string no_effect_text(const std::string& column);

// The runs that failed or whose job stalled, and why.
[[nodiscard]] std::vector<std::string> failures(const PlannedStudy& study, RunStore& store);

}  // namespace paceline

#include "sim/report/statistics/run_summary.hpp"

namespace paceline {

RunSummary summary_of(const RunResult& run) {
  return {.seed = run.seed,
          .end_reason = run.end_reason,
          .time_to_accuracy = run.time_to_accuracy,
          .end_time = run.end_time,
          .samples = run.samples,
          .final_accuracy = run.curve.empty() ? std::nullopt : std::optional(run.curve.back().accuracy),
          .mean_staleness = run.mean_staleness(),
          .evaluation_interval = run.evaluation_interval()};
}

std::vector<RunSummary> summaries_of(const std::vector<RunResult>& runs) {
  std::vector<RunSummary> summaries;
  for (const RunResult& run : runs) summaries.push_back(summary_of(run));
  return summaries;
}

}  // namespace paceline

#include "calibrate/learning/phase_steps.hpp"

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <vector>

#include "calibrate/learning/csv_rows.hpp"
#include "calibrate/learning/curve_log.hpp"
#include "calibrate/logs/step_log.hpp"

namespace paceline {
namespace {

constexpr const char* time_column = "wall_time_s";
constexpr std::size_t fewest_records = 5;
constexpr double least_interval_s = 50.0;  // of whole seconds: 2 % from rounding

bool has_times(const std::filesystem::path& log) {
  const std::vector<std::string> header = CsvRows(log).header();
  return std::find(header.begin(), header.end(), time_column) != header.end();
}

// Times in whole seconds tell intervals of seconds apart from pauses only by chance.
bool is_fine_enough(const std::vector<calibrate::StepRecord>& records) {
  const bool whole = std::all_of(records.begin(), records.end(), [](const calibrate::StepRecord& record) {
    return record.time_s == std::floor(record.time_s);
  });
  const double intervals = static_cast<double>(records.size()) - 1.0;
  return !whole || (records.back().time_s - records.front().time_s) / intervals >= least_interval_s;
}

// Records after step `from` and up to `until`, steps and times ascending.
std::vector<calibrate::StepRecord> records_between(const CurveLog& log, double from, double until) {
  std::vector<calibrate::StepRecord> records;
  for (const CurveRow& row : log.rows) {
    if (row.step <= from || row.step > until) continue;
    if (!records.empty() && (row.step <= records.back().step || *row.time_s <= records.back().time_s))
      continue;
    records.push_back({*row.time_s, row.step});
  }
  return records;
}

}  // namespace

void add_step_times(TrainingRun& run, const std::filesystem::path& log) {
  if (run.phases.size() != run.plan.phases.size() || !has_times(log)) return;
  const CurveLog timed = read_curve(log, {.step = "step", .value = "value", .time = time_column});
  double minibatches = 0.0;
  double from = -1.0;
  for (std::size_t p = 0; p < run.phases.size(); ++p) {
    minibatches += run.plan.phases[p].minibatches;
    const double until = run.plan.step_at_minibatches(minibatches);
    const std::vector<calibrate::StepRecord> records = records_between(timed, from, until);
    from = until;
    if (records.size() < fewest_records || !is_fine_enough(records)) continue;
    const calibrate::StepTimes times = calibrate::step_times(records);
    run.phases[p].seconds_between_pauses = times.step_s;
    run.phases[p].pauses_s = times.pauses_s;
  }
}

}  // namespace paceline

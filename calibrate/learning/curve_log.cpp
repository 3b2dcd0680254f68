#include "calibrate/learning/curve_log.hpp"

#include <algorithm>
#include <cmath>
#include <utility>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "sim/base/check.hpp"
#include "sim/base/csv.hpp"
#include "sim/base/diagnostic.hpp"
#include "sim/base/number_text.hpp"
#include "sim/base/order_statistics.hpp"

namespace paceline {
namespace {

constexpr double gap_share = 0.10;
constexpr double gap_in_median_spacings = 3.0;

void add_defect(CurveLog& log, int line, const std::string& message) {
  log.defects.push_back(fmt::format("{}:{}: {}", log.file.string(), line, message));
}

std::optional<double> number(CurveLog& log, const CsvRow& row, const std::string& column, const char* what) {
  const CsvCell& cell = row.cell(column);
  const std::optional<double> parsed = to_number(cell.text);
  if (parsed && std::isfinite(*parsed)) return parsed;
  log.defects.push_back(fmt::format("{}:{}:{}: {}", log.file.string(), cell.line, cell.column,
                                    parsed ? fmt::format("the {} is {}", what, cell.text)
                                           : fmt::format("the {} `{}` is not a number", what, cell.text)));
  return std::nullopt;
}

void add_row(CurveLog& log, const CsvRow& row, const CurveColumns& columns) {
  const std::optional<double> step = number(log, row, columns.step, "step");
  const std::optional<double> value = number(log, row, columns.value, "value");
  const std::optional<double> time = columns.time ? number(log, row, *columns.time, "time") : std::nullopt;
  if (!step || !value || (columns.time && !time)) return;
  std::vector<CurveRow>& kept = log.rows;
  if (!kept.empty() && *step < kept.back().step) {
    add_defect(log, row.line(),
               fmt::format("restart: step {:.10g} follows {:.10g}", *step, kept.back().step));
    while (!kept.empty() && kept.back().step >= *step) kept.pop_back();
  }
  kept.push_back({*step, time, *value, row.line()});
}

std::vector<std::string> needed(const CurveColumns& columns) {
  std::vector<std::string> names{columns.step, columns.value};
  for (const std::optional<std::string>& name : {columns.time, columns.run})
    if (name) names.push_back(*name);
  return names;
}

}  // namespace

CurveLog read_curve(const std::filesystem::path& file, const CurveColumns& columns) {
  const CsvFile csv(file, needed(columns), {.keeps_ragged_rows = true});
  CurveLog log{file, {}, {}};
  for (const CsvRow& row : csv.rows()) {
    if (!row.is_whole())
      add_defect(log, row.line(), fmt::format("truncated: {} of {} cells", row.size(), csv.columns().size()));
    else if (!columns.run || row.text(*columns.run) == columns.run_value)
      add_row(log, row, columns);
  }
  return log;
}

std::vector<std::string> runs_in(const std::filesystem::path& file, const std::string& column) {
  const CsvFile csv(file, {column}, {.keeps_ragged_rows = true});
  std::vector<std::string> runs;
  for (const CsvRow& row : csv.rows())
    if (row.is_whole() && std::ranges::find(runs, row.text(column)) == runs.end())
      runs.push_back(row.text(column));
  return runs;
}

std::vector<std::string> find_gaps(const CurveLog& log, std::span<const double> positions) {
  check(positions.size() == log.rows.size(), "one position for each row");
  std::vector<double> spacings;
  for (std::size_t i = 1; i < positions.size(); ++i) spacings.push_back(positions[i] - positions[i - 1]);
  if (spacings.size() < 3) return {};
  const double usual = median(spacings);
  const double range = positions.back() - positions.front();
  std::vector<std::string> gaps;
  for (std::size_t i = 0; i < spacings.size(); ++i)
    if (spacings[i] > gap_share * range && spacings[i] > gap_in_median_spacings * usual)
      gaps.push_back(fmt::format("{}:{}: gap: no row for {:.0f} % of the range", log.file.string(),
                                 log.rows[i + 1].line, 100.0 * spacings[i] / range));
  return gaps;
}

std::vector<PositionedValue> read_positioned(const std::filesystem::path& file, const CurveColumns& columns,
                                             const std::function<double(double step)>& minibatches_at,
                                             std::vector<std::string>& defects) {
  const CurveLog log = read_curve(file, columns);
  std::vector<double> positions;
  std::vector<PositionedValue> curve;
  for (const CurveRow& row : log.rows) {
    positions.push_back(minibatches_at(row.step));
    curve.push_back({positions.back(), row.value});
  }
  defects.insert(defects.end(), log.defects.begin(), log.defects.end());
  std::ranges::move(find_gaps(log, positions), std::back_inserter(defects));
  return curve;
}

std::vector<std::string> accept_or_refuse(const std::vector<std::string>& defects, bool skip_bad) {
  if (skip_bad || defects.empty()) return defects;
  throw UserError(fmt::format("error: {}\n{} in the logs\nhint: `--skip-bad` leaves out what is bad\n",
                              fmt::join(defects, "\nerror: "),
                              defects.size() == 1 ? "1 defect" : fmt::format("{} defects", defects.size())));
}

}  // namespace paceline

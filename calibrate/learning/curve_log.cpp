#include "calibrate/learning/curve_log.hpp"

#include <cmath>
#include <cstddef>
#include <string_view>
#include <utility>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "calibrate/learning/csv_rows.hpp"
#include "sim/base/check.hpp"
#include "sim/base/diagnostic.hpp"
#include "sim/base/order_statistics.hpp"

namespace paceline {
namespace {

constexpr double gap_share = 0.10;
constexpr double gap_in_median_spacings = 3.0;

class CurveReader {
 public:
  CurveReader(const std::filesystem::path& file, const CurveColumns& columns) : rows_(file) {
    log_.file = file;
    step_ = rows_.column(columns.step);
    value_ = rows_.column(columns.value);
    if (columns.time) time_ = rows_.column(*columns.time);
    if (columns.run) run_ = rows_.column(*columns.run);
    run_value_ = columns.run_value;
  }

  CurveLog read() {
    for (const CsvRow& row : rows_.rows()) add(row);
    return std::move(log_);
  }

 private:
  void defect(int line, const std::string& message) {
    log_.defects.push_back(fmt::format("{}:{}: {}", log_.file.string(), line, message));
  }

  std::optional<double> number(const CsvRow& row, std::size_t column, const char* what) {
    const std::optional<double> parsed = to_number(row.cells[column]);
    if (!parsed) {
      defect(row.line, fmt::format("the {} `{}` is not a number", what, row.cells[column]));
      return std::nullopt;
    }
    if (std::isfinite(*parsed)) return parsed;
    defect(row.line, fmt::format("the {} is {}", what, row.cells[column]));
    return std::nullopt;
  }

  void add(const CsvRow& row) {
    if (row.cells.size() != rows_.header().size()) {
      defect(row.line, fmt::format("truncated: {} of {} cells", row.cells.size(), rows_.header().size()));
      return;
    }
    if (run_ && row.cells[*run_] != run_value_) return;
    const std::optional<double> step = number(row, step_, "step");
    const std::optional<double> value = number(row, value_, "value");
    const std::optional<double> time = time_ ? number(row, *time_, "time") : std::nullopt;
    if (!step || !value || (time_ && !time)) return;
    std::vector<CurveRow>& kept = log_.rows;
    if (!kept.empty() && *step < kept.back().step) {
      defect(row.line, fmt::format("restart: step {:.10g} follows {:.10g}", *step, kept.back().step));
      while (!kept.empty() && kept.back().step >= *step) kept.pop_back();
    }
    kept.push_back({*step, time, *value, row.line});
  }

  CsvRows rows_;
  CurveLog log_;
  std::size_t step_ = 0;
  std::size_t value_ = 0;
  std::optional<std::size_t> time_;
  std::optional<std::size_t> run_;
  std::string run_value_;
};

}  // namespace

CurveLog read_curve(const std::filesystem::path& file, const CurveColumns& columns) {
  return CurveReader(file, columns).read();
}

std::vector<std::string> runs_in(const std::filesystem::path& file, const std::string& column) {
  const CsvRows rows(file);
  const std::size_t index = rows.column(column);
  std::vector<std::string> runs;
  for (const CsvRow& row : rows.rows())
    if (index < row.cells.size() && std::find(runs.begin(), runs.end(), row.cells[index]) == runs.end())
      runs.push_back(row.cells[index]);
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

std::vector<std::string> accept_or_refuse(const std::vector<std::string>& defects, bool skip_bad) {
  if (skip_bad || defects.empty()) return defects;
  throw UserError(fmt::format("error: {}\n{} in the logs\nhint: `--skip-bad` goes on without what is bad\n",
                              fmt::join(defects, "\nerror: "),
                              defects.size() == 1 ? "1 defect" : fmt::format("{} defects", defects.size())));
}

}  // namespace paceline

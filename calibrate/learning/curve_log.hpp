// One recorded curve: a CSV file read by the names of its columns, and what is wrong with it.
//
// Models:      rows (step, value) with an optional time, in the order written.
// Equation:    a *restart* is a step below an earlier one; a *gap* is a spacing of positions (the steps, or
//              the workload done by then) above 10 % of the whole range and 3 times the median.
// Units:       steps as the log counts them; time in seconds from any origin; values as they are.
#pragma once

#include <filesystem>
#include <functional>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "calibrate/learning/training_run.hpp"

namespace paceline {

struct CurveColumns {
  std::string step = "step";
  std::string value = "value";
  std::optional<std::string> time;
  // A file of several runs: the column that tells them apart, and the run to read.
  std::optional<std::string> run{};
  std::string run_value{};
};

struct CurveRow {
  double step = 0.0;
  std::optional<double> time_s;
  double value = 0.0;
  int line = 0;
};

struct CurveLog {
  std::filesystem::path file;
  std::vector<CurveRow> rows;
  // "file:line: message": rows that cannot be used (truncated, not a number) and restarts.
  std::vector<std::string> defects;
};

// Reads what can be read and lists what cannot: a defective row is left out; after a restart the rows it
// repeats are those of the restart. Throws UserError when the file cannot be read or lacks a column.
[[nodiscard]] CurveLog read_curve(const std::filesystem::path& file, const CurveColumns& columns);

// The values of a column that tells runs apart, in the order they appear; truncated rows have none.
[[nodiscard]] std::vector<std::string> runs_in(const std::filesystem::path& file, const std::string& column);

// One sentence for each gap; `positions` of the rows of `log`.
[[nodiscard]] std::vector<std::string> find_gaps(const CurveLog& log, std::span<const double> positions);

// A curve over the workload, in mini-batches done at a step; its defects and gaps are appended to `defects`.
[[nodiscard]] std::vector<PositionedValue> read_positioned(
    const std::filesystem::path& file, const CurveColumns& columns,
    const std::function<double(double step)>& minibatches_at, std::vector<std::string>& defects);

// Throws one UserError with every defect, unless `skip_bad`: then the defects come back as notes.
[[nodiscard]] std::vector<std::string> accept_or_refuse(const std::vector<std::string>& defects,
                                                        bool skip_bad);

}  // namespace paceline

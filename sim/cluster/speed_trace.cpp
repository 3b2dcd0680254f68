#include <algorithm>
#include <array>

#include <fmt/format.h>

#include "sim/base/csv.hpp"
#include "sim/cluster/conditions.hpp"

namespace paceline {
namespace {

constexpr std::array<std::string_view, 4> known_columns = {"time_s", "worker", "speed", "bandwidth"};

void check_header(const CsvFile& file) {
  for (const std::string& column : file.columns())
    if (std::ranges::find(known_columns, column) == known_columns.end())
      file.fail(fmt::format("unknown column `{}`", column));
  const auto count = [&](const char* column) { return std::ranges::count(file.columns(), column); };
  if (count("speed") + count("bandwidth") == 0 || count("speed") > 1 || count("bandwidth") > 1)
    file.fail("`speed`, `bandwidth` or both must be there, once each");
}

std::optional<double> factor(const CsvFile& file, const CsvRow& row, const char* column) {
  const std::optional<double> value = file.has(column) ? row.number_if_given(column) : std::nullopt;
  if (value && *value <= 0.0)
    row.fail(fmt::format("`{}` must be above 0, not {}", column, *value),
             "a worker that leaves belongs in `heterogeneity.membership`");
  return value;
}

}  // namespace

std::vector<TraceRow> read_trace(const std::filesystem::path& path, std::size_t workers) {
  const CsvFile file(
      path, {"time_s", "worker"},
      {.hint = "a trace has the columns time_s, worker, speed, bandwidth", .is_hand_written = true});
  check_header(file);
  std::vector<TraceRow> rows;
  for (const CsvRow& cells : file.rows()) {
    const TraceRow row{.time = Seconds{cells.number("time_s")},
                       .worker = cells.count("worker"),
                       .speed = factor(file, cells, "speed"),
                       .bandwidth = factor(file, cells, "bandwidth")};
    if (row.worker >= workers)
      cells.fail(fmt::format("there is no worker `{}`: they are 0 to {}", row.worker, workers - 1));
    if (row.time < Seconds{}) cells.fail("a time before the start of the job");
    if (!rows.empty() && row.time < rows.back().time) cells.fail("rows must ascend in time");
    rows.push_back(row);
  }
  if (rows.empty()) file.fail("the trace has no rows");
  return rows;
}

}  // namespace paceline

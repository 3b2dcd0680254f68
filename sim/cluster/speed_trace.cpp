#include "sim/cluster/speed_trace.hpp"

#include <algorithm>
#include <charconv>
#include <cmath>
#include <fstream>
#include <string>
#include <string_view>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "sim/base/diagnostic.hpp"

namespace paceline {
namespace {

constexpr std::string_view expected_columns = "time_s, worker, speed, bandwidth";

struct LineOfFile {
  const std::filesystem::path& file;
  std::size_t line = 0;
  [[noreturn]] void fail(const std::string& message, const std::string& hint = "") const {
    throw UserError(fmt::format("{}:{}: {}", file.string(), line, message), hint);
  }
};

std::string_view trimmed(std::string_view text) {
  constexpr std::string_view blanks = " \t\r";
  const std::size_t first = text.find_first_not_of(blanks);
  if (first == std::string_view::npos) return {};
  return text.substr(first, text.find_last_not_of(blanks) - first + 1);
}

std::vector<std::string_view> cells_of(std::string_view line) {
  std::vector<std::string_view> cells;
  for (std::size_t begin = 0; begin <= line.size();) {
    const std::size_t end = std::min(line.find(',', begin), line.size());
    cells.push_back(trimmed(line.substr(begin, end - begin)));
    begin = end + 1;
  }
  return cells;
}

double number(std::string_view cell, std::string_view column, const LineOfFile& place) {
  double value = 0.0;
  const auto [end, error] = std::from_chars(cell.data(), cell.data() + cell.size(), value);
  if (error != std::errc{} || end != cell.data() + cell.size() || !std::isfinite(value))
    place.fail(fmt::format("`{}` is not a number for `{}`", cell, column));
  return value;
}

std::optional<double> factor(std::string_view cell, std::string_view column, const LineOfFile& place) {
  if (cell.empty()) return std::nullopt;
  const double value = number(cell, column, place);
  if (value <= 0.0)
    place.fail(fmt::format("`{}` must be above 0, not {}", column, value),
               "a worker that is gone belongs into `heterogeneity.membership`");
  return value;
}

TraceRow row_of(const std::vector<std::string_view>& columns, const std::vector<std::string_view>& cells,
                std::size_t workers, const LineOfFile& place) {
  if (cells.size() != columns.size())
    place.fail(fmt::format("{} cells, but the header has {}", cells.size(), columns.size()));
  TraceRow row;
  for (std::size_t i = 0; i < cells.size(); ++i) {
    if (columns[i] == "time_s") row.time = Seconds{number(cells[i], columns[i], place)};
    if (columns[i] == "speed") row.speed = factor(cells[i], columns[i], place);
    if (columns[i] == "bandwidth") row.bandwidth = factor(cells[i], columns[i], place);
    if (columns[i] != "worker") continue;
    const double worker = number(cells[i], columns[i], place);
    if (worker < 0.0 || worker != std::floor(worker) || worker >= static_cast<double>(workers))
      place.fail(fmt::format("there is no worker `{}`: they are 0 to {}", cells[i], workers - 1));
    row.worker = static_cast<std::uint64_t>(worker);
  }
  if (row.time < Seconds{}) place.fail("a time before the start of the job");
  return row;
}

void check_header(const std::vector<std::string_view>& columns, const LineOfFile& place) {
  const std::vector<std::string> known{"time_s", "worker", "speed", "bandwidth"};
  for (const std::string_view column : columns)
    if (std::find(known.begin(), known.end(), column) == known.end())
      place.fail(fmt::format("unknown column `{}`", column),
                 fmt::format("the columns are {}", expected_columns));
  const auto count = [&](const char* column) { return std::count(columns.begin(), columns.end(), column); };
  if (count("speed") + count("bandwidth") == 0 || count("speed") > 1 || count("bandwidth") > 1)
    place.fail("`speed`, `bandwidth` or both must be there, once each",
               fmt::format("the columns are {}", expected_columns));
  for (const char* needed : {"time_s", "worker"})
    if (count(needed) != 1)
      place.fail(fmt::format("the column `{}` must be there once", needed),
                 fmt::format("the columns are {}", expected_columns));
}

}  // namespace

std::vector<TraceRow> read_trace(const std::filesystem::path& file, std::size_t workers) {
  std::ifstream stream(file);
  if (!stream) throw UserError(fmt::format("the trace {} cannot be read", file.string()));
  std::vector<TraceRow> rows;
  std::string header;
  std::vector<std::string_view> columns;
  LineOfFile place{file};
  for (std::string line; std::getline(stream, line);) {
    ++place.line;
    const std::string_view content = trimmed(std::string_view(line).substr(0, line.find('#')));
    if (content.empty()) continue;
    if (columns.empty()) {
      header = content;
      columns = cells_of(header);
      check_header(columns, place);
      continue;
    }
    rows.push_back(row_of(columns, cells_of(content), workers, place));
    if (rows.size() > 1 && rows.back().time < rows[rows.size() - 2].time)
      place.fail("rows must ascend in time");
  }
  if (rows.empty())
    throw UserError(fmt::format("{} has no rows", file.string()),
                    fmt::format("the columns are {}", expected_columns));
  return rows;
}

}  // namespace paceline

#include "plots/data/csv_table.hpp"

#include <algorithm>
#include <charconv>
#include <cmath>
#include <system_error>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "sim/base/atomic_file.hpp"
#include "sim/base/check.hpp"
#include "sim/base/diagnostic.hpp"

namespace paceline::plots {

CsvTable::CsvTable(const std::filesystem::path& path, const std::vector<std::string>& columns) : path_(path) {
  rows_ = records(read_file(path));
  if (rows_.empty()) fail(1, "the file is empty, a header was expected");
  columns_ = std::move(rows_.front().cells);
  rows_.erase(rows_.begin());
  for (const std::string& wanted : columns) {
    if (std::ranges::count(columns_, wanted) != 1)
      fail(1, fmt::format("the header must name the column `{}` once, but it reads `{}`", wanted,
                          fmt::join(columns_, ",")));
  }
  for (const Row& row : rows_) {
    if (row.cells.size() != columns_.size())
      fail(row.line, fmt::format("{} cells where the header names {}", row.cells.size(), columns_.size()));
  }
}

bool CsvTable::has(std::string_view column) const {
  return std::ranges::count(columns_, column) == 1;
}

double CsvTable::number(std::size_t row, std::string_view column) const {
  const std::string& text = cell(row, column);
  double value = 0.0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (error != std::errc{} || end != text.data() + text.size() || !std::isfinite(value))
    fail(rows_[row].line, fmt::format("`{}` in column `{}` is not a finite number", text, column));
  return value;
}

std::uint64_t CsvTable::count(std::size_t row, std::string_view column) const {
  const std::string& text = cell(row, column);
  std::uint64_t value = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (error != std::errc{} || end != text.data() + text.size())
    fail(rows_[row].line, fmt::format("`{}` in column `{}` is not a whole number", text, column));
  return value;
}

const std::string& CsvTable::cell(std::size_t row, std::string_view column) const {
  const auto found = std::ranges::find(columns_, column);
  check(found != columns_.end(), "only columns named at construction are read");
  return rows_.at(row).cells[static_cast<std::size_t>(found - columns_.begin())];
}

void CsvTable::fail(std::size_t line, const std::string& what) const {
  throw UserError(fmt::format("{}:{}: {}", path_.string(), line, what),
                  "results are written by `paceline run` and `paceline study`; make them again");
}

std::vector<CsvTable::Row> CsvTable::records(std::string_view content) const {
  std::vector<Row> rows;
  std::size_t line = 1;
  std::size_t at = 0;
  while (at < content.size()) {
    Row row{line, {""}};
    bool quoted = false;
    for (; at < content.size(); ++at) {
      const char c = content[at];
      if (c == '\n') ++line;
      if (quoted && c == '"' && content.substr(at, 2) == "\"\"") {
        row.cells.back() += '"';
        ++at;
      } else if (c == '"') {
        quoted = !quoted;
      } else if (!quoted && c == ',') {
        row.cells.emplace_back();
      } else if (!quoted && c == '\n') {
        break;
      } else if (quoted || c != '\r') {
        row.cells.back() += c;
      }
    }
    if (quoted) fail(row.line, "a quoted cell does not end");
    ++at;
    rows.push_back(std::move(row));
  }
  return rows;
}

bool is_cut_short(const CsvTable& runs, std::size_t row) {
  if (!runs.has("end_reason")) return false;
  const std::string& reason = runs.text(row, "end_reason");
  return reason == "diverged" || reason == "stalled";
}

}  // namespace paceline::plots

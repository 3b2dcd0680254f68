#include "calibrate/learning/csv_rows.hpp"

#include <algorithm>
#include <charconv>
#include <cmath>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "sim/base/atomic_file.hpp"
#include "sim/base/diagnostic.hpp"

namespace paceline {
namespace {

std::vector<std::string> split(std::string_view line) {
  std::vector<std::string> cells;
  while (true) {
    const std::size_t comma = line.find(',');
    cells.emplace_back(line.substr(0, comma));
    if (comma == std::string_view::npos) return cells;
    line.remove_prefix(comma + 1);
  }
}

}  // namespace

CsvRows::CsvRows(const std::filesystem::path& file) : file_(file) {
  const std::string text = read_file(file);
  std::string_view rest = text;
  for (int line = 1; !rest.empty(); ++line) {
    const std::size_t end = rest.find('\n');
    std::string_view content = rest.substr(0, end);
    rest.remove_prefix(end == std::string_view::npos ? rest.size() : end + 1);
    if (content.ends_with('\r')) content.remove_suffix(1);
    if (content.empty()) continue;
    if (header_.empty()) {
      header_ = split(content);
    } else {
      rows_.push_back({line, split(content)});
    }
  }
  if (header_.empty())
    throw UserError(fmt::format("{}: is empty", file.string()), "a first row names the columns");
}

std::size_t CsvRows::column(const std::string& name) const {
  const auto found = std::find(header_.begin(), header_.end(), name);
  if (found == header_.end())
    throw UserError(fmt::format("{}: has no column `{}`", file_.string(), name),
                    fmt::format("its columns are {}", fmt::join(header_, ", ")));
  return static_cast<std::size_t>(found - header_.begin());
}

const std::string& CsvRows::cell(const CsvRow& row, std::size_t column) const {
  if (column >= row.cells.size())
    throw UserError(fmt::format("{}:{}: truncated: {} of {} cells", file_.string(), row.line,
                                row.cells.size(), header_.size()),
                    "");
  return row.cells[column];
}

double CsvRows::number(const CsvRow& row, std::size_t column) const {
  const std::optional<double> parsed = to_number(cell(row, column));
  if (!parsed || !std::isfinite(*parsed))
    throw UserError(fmt::format("{}:{}: `{}` must be a number, is `{}`", file_.string(), row.line,
                                header_[column], row.cells[column]),
                    "");
  return *parsed;
}

std::optional<double> to_number(std::string_view text) {
  double number = 0.0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), number);
  if (error != std::errc{} || end != text.data() + text.size()) return std::nullopt;
  return number;
}

}  // namespace paceline

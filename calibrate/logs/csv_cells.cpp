#include "calibrate/logs/csv_cells.hpp"

#include <algorithm>
#include <charconv>
#include <cmath>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "sim/base/diagnostic.hpp"

namespace paceline::calibrate {

std::vector<std::string> cells_of(const std::string& line) {
  std::vector<std::string> cells;
  std::size_t start = 0;
  while (start <= line.size()) {
    const std::size_t comma = std::min(line.find(',', start), line.size());
    cells.push_back(line.substr(start, comma - start));
    start = comma + 1;
  }
  if (!cells.empty() && cells.back().ends_with('\r')) cells.back().pop_back();
  return cells;
}

std::size_t column_of(const std::vector<std::string>& names, const std::string& wanted,
                      const std::filesystem::path& path, const std::string& hint) {
  const auto found = std::ranges::find(names, wanted);
  if (found == names.end())
    throw UserError(fmt::format("{}:1: there is no column `{}`", path.string(), wanted),
                    fmt::format("its columns are {}{}", fmt::join(names, ", "), hint));
  return static_cast<std::size_t>(found - names.begin());
}

double number_of(const std::string& cell, const std::filesystem::path& path, std::size_t line) {
  double value = 0.0;
  const auto [end, error] = std::from_chars(cell.data(), cell.data() + cell.size(), value);
  if (error != std::errc() || end != cell.data() + cell.size() || !std::isfinite(value))
    throw UserError(fmt::format("{}:{}: `{}` is not a number", path.string(), line, cell),
                    "a log of steps holds finite numbers in these columns");
  return value;
}

}  // namespace paceline::calibrate

#include "calibrate/logs/switch_log.hpp"

#include <algorithm>
#include <sstream>

#include <fmt/format.h>

#include "calibrate/logs/csv_cells.hpp"
#include "calibrate/logs/statistics.hpp"
#include "sim/base/atomic_file.hpp"
#include "sim/base/diagnostic.hpp"
#include "sim/base/order_statistics.hpp"

namespace paceline::calibrate {

double SwitchGaps::cost_s() const {
  return median(gaps_s) - sleep_s;
}

SwitchGaps read_switch_gaps(const std::filesystem::path& phases, const std::string& setup, double sleep_s) {
  std::error_code ignored;
  if (!std::filesystem::is_regular_file(phases, ignored))
    throw UserError(fmt::format("{}: no such file", phases.string()), "name a CSV file of recorded phases");
  std::istringstream lines(read_file(phases));
  std::string line;
  std::getline(lines, line);
  const std::vector<std::string> names = cells_of(line);
  const std::size_t setup_column = column_of(names, "setup", phases, "");
  const std::size_t gap_column = column_of(names, "gap_before_s", phases, "");
  SwitchGaps gaps{{}, sleep_s};
  for (std::size_t number = 2; std::getline(lines, line); ++number) {
    const std::vector<std::string> cells = cells_of(line);
    if (cells.size() != names.size())
      throw UserError(fmt::format("{}:{}: {} values, but {} columns", phases.string(), number, cells.size(),
                                  names.size()),
                      "was the file cut off?");
    if (cells[setup_column] != setup || cells[gap_column].empty()) continue;
    gaps.gaps_s.push_back(number_of(cells[gap_column], phases, number));
    if (gaps.gaps_s.back() < sleep_s)
      throw UserError(fmt::format("{}:{}: the gap of {:g} s is shorter than the sleep of {:g} s",
                                  phases.string(), number, gaps.gaps_s.back(), sleep_s),
                      "--sleep is the part of every gap in which nothing is done");
  }
  return gaps;
}

}  // namespace paceline::calibrate

#include "calibrate/logs/switch_log.hpp"

#include <fmt/format.h>

#include "sim/base/csv.hpp"
#include "sim/base/diagnostic.hpp"
#include "sim/base/order_statistics.hpp"

namespace paceline::calibrate {

double SwitchGaps::cost_s() const {
  return median(gaps_s) - sleep_s;
}

SwitchGaps read_switch_gaps(const std::filesystem::path& phases, const std::string& setup, double sleep_s) {
  const CsvFile file(phases, {"setup", "gap_before_s"});
  SwitchGaps gaps{{}, sleep_s};
  for (const CsvRow& row : file.rows()) {
    const std::optional<double> gap_s = row.number_if_given("gap_before_s");
    if (row.text("setup") != setup || !gap_s) continue;
    if (*gap_s < sleep_s)
      row.fail(fmt::format("the gap of {:g} s is shorter than the sleep of {:g} s", *gap_s, sleep_s),
               "--sleep is the part of every gap in which nothing is done");
    gaps.gaps_s.push_back(*gap_s);
  }
  return gaps;
}

}  // namespace paceline::calibrate

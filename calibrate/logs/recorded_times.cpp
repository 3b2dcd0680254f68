#include "calibrate/logs/recorded_times.hpp"

#include <algorithm>
#include <cmath>
#include <limits>

#include <fmt/format.h>

#include "sim/base/check.hpp"
#include "sim/base/csv.hpp"
#include "sim/base/diagnostic.hpp"
#include "sim/base/order_statistics.hpp"

namespace paceline::calibrate {
namespace {

constexpr double smallest_pause_share = 0.02;
constexpr double pause_deviations = 4.0;
constexpr std::size_t fewest_records = 4;
constexpr double gap_share = 0.03;
constexpr double fewest_below_gap_share = 0.1;
constexpr std::size_t fewest_below_gap = 3;

struct Half {
  double mean = 0.0;
  double relative_spread = 0.0;
};

// Pauses only ever lengthen an interval: what lies above a gap holds one.
std::vector<double> below_first_gap(std::vector<double> values) {
  std::ranges::sort(values);
  const auto share = static_cast<std::size_t>(fewest_below_gap_share * static_cast<double>(values.size()));
  for (std::size_t below = std::max(fewest_below_gap, share); below < values.size(); ++below)
    if (values[below] > (1.0 + gap_share) * values[below - 1]) {
      values.resize(below);
      break;
    }
  return values;
}

// The half of the ascending values that lies closest together.
Half shortest_half(const std::vector<double>& values) {
  const std::size_t size = values.size() / 2 + 1;
  std::size_t best = 0;
  double narrowest = std::numeric_limits<double>::infinity();
  for (std::size_t i = 0; i + size <= values.size(); ++i) {
    const double width = values[i + size - 1] - values[i];
    if (width >= narrowest) continue;
    narrowest = width;
    best = i;
  }
  double sum = 0.0;
  for (std::size_t i = best; i < best + size; ++i) sum += values[i];
  const double mean = sum / static_cast<double>(size);
  return {mean, 0.5 * narrowest / mean};
}

}  // namespace

std::vector<StepRecord> read_step_log(const std::filesystem::path& path, const std::string& time_column,
                                      const std::string& step_column) {
  const CsvFile file(path, {time_column, step_column},
                     {.hint = "columns are named with --time-column and --step-column"});
  std::vector<StepRecord> records;
  for (const CsvRow& row : file.rows()) {
    const StepRecord record{row.number(time_column), row.number(step_column)};
    if (!records.empty() && (record.step <= records.back().step || record.time_s <= records.back().time_s))
      row.fail_at(step_column,
                  fmt::format("step {:g} at {:.0f} s does not come after the line before", record.step,
                              record.time_s),
                  "give each start of a job as a file of its own");
    records.push_back(record);
  }
  if (records.size() < fewest_records)
    throw UserError(fmt::format("{}: {} records are too few for a rate", path.string(), records.size()),
                    fmt::format("at least {} are needed", fewest_records));
  return records;
}

double StepTimes::mean_step_s() const {
  double pauses = 0.0;
  for (const double pause : pauses_s) pauses += pause;
  return step_s + pauses / steps;
}

StepTimes step_times(std::span<const StepRecord> records) {
  check(records.size() >= fewest_records, "a log has records");
  std::vector<double> rates;
  for (std::size_t i = 1; i < records.size(); ++i)
    rates.push_back((records[i].time_s - records[i - 1].time_s) / (records[i].step - records[i - 1].step));
  const Half usual = shortest_half(below_first_gap(rates));
  const double bound =
      usual.mean * (1.0 + std::max(smallest_pause_share, pause_deviations * usual.relative_spread));
  StepTimes times;
  double seconds = 0.0;
  double steps = 0.0;
  for (std::size_t i = 0; i < rates.size(); ++i) {
    if (rates[i] > bound) continue;
    seconds += records[i + 1].time_s - records[i].time_s;
    steps += records[i + 1].step - records[i].step;
    ++times.intervals;
  }
  times.step_s = seconds / steps;
  double squares = 0.0;
  for (std::size_t i = 0; i < rates.size(); ++i) {
    const double excess = rates[i] / times.step_s - 1.0;
    if (rates[i] <= bound)
      squares += excess * excess;
    else
      times.pauses_s.push_back((rates[i] - times.step_s) * (records[i + 1].step - records[i].step));
  }
  times.relative_sd = std::sqrt(squares / times.intervals);
  times.steps = records.back().step - records.front().step;
  return times;
}

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
      row.fail_at("gap_before_s",
                  fmt::format("the gap of {:g} s is shorter than the sleep of {:g} s", *gap_s, sleep_s),
                  "--sleep is the part of every gap in which nothing is done");
    gaps.gaps_s.push_back(*gap_s);
  }
  return gaps;
}

}  // namespace paceline::calibrate

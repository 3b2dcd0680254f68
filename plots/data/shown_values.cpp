#include "plots/data/shown_values.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <string_view>

#include <boost/math/distributions/students_t.hpp>

#include "plots/data/results.hpp"
#include "sim/base/check.hpp"

namespace paceline::plots {
namespace {

constexpr std::array<std::string_view, 2> lengths_of_jobs = {"end_time_s", "core_hours"};
constexpr std::string_view time_metric = "time_to_accuracy_s";  // empty where the target was never reached

}  // namespace

ShownValues::ShownValues(const CsvFile& runs, const StudyFigureSpec& spec,
                         const std::vector<std::string>& columns)
    : runs_(runs), spec_(spec), columns_(columns) {
  for (const CsvRow& row : runs_.rows()) {
    if (!is_reference(row)) continue;
    if (const std::optional<double> value = metric(row)) references_.emplace(twin(row), *value);
  }
}

bool ShownValues::is_reference(const CsvRow& row) const {
  return !spec_.difference_from.empty() && row.text(spec_.series) == spec_.difference_from;
}

std::optional<double> ShownValues::of(const CsvRow& row) const {
  const std::optional<double> value = metric(row);
  if (!value || spec_.difference_from.empty()) return value;
  const auto reference = references_.find(twin(row));
  const bool are_numbers =
      reference != references_.end() && std::isfinite(*value) && std::isfinite(reference->second);
  return are_numbers ? std::optional(*value - reference->second) : std::nullopt;
}

bool ShownValues::is_cut_short(const CsvRow& row) const {
  return std::ranges::count(lengths_of_jobs, spec_.metric) > 0 && plots::is_cut_short(runs_, row);
}

std::optional<double> ShownValues::metric(const CsvRow& row) const {
  if (row.text("status") != "done" || is_cut_short(row)) return std::nullopt;
  if (!row.text(spec_.metric).empty()) return row.number(spec_.metric);
  return spec_.metric == time_metric ? std::optional(never_reached) : std::nullopt;
}

// Everything that a run shares with its reference.
std::string ShownValues::twin(const CsvRow& row) const {
  std::string key = row.text("replication");
  for (const std::string& column : columns_)
    if (column != spec_.series) key += '\n' + row.text(column);
  return key;
}

MeanInterval mean_interval(const std::vector<double>& values) {
  check(!values.empty(), "a mean is one of values");
  const auto n = static_cast<double>(values.size());
  double sum = 0.0;
  for (const double value : values) sum += value;
  const double mean = sum / n;
  if (values.size() == 1) return {mean, 0.0};
  double squares = 0.0;
  for (const double value : values) squares += (value - mean) * (value - mean);
  const double t = boost::math::quantile(boost::math::students_t_distribution<double>(n - 1.0), 0.975);
  return {mean, t * std::sqrt(squares / (n - 1.0) / n)};
}

}  // namespace paceline::plots

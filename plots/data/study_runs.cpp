#include "plots/data/study_runs.hpp"

#include <algorithm>
#include <cmath>
#include <map>
#include <set>

#include <fmt/format.h>
#include <fmt/ranges.h>
#include <nlohmann/json.hpp>

#include "plots/data/results.hpp"
#include "plots/data/shown_values.hpp"
#include "sim/base/atomic_file.hpp"
#include "sim/base/csv.hpp"
#include "sim/base/diagnostic.hpp"
#include "sim/base/number_text.hpp"
#include "sim/base/order_statistics.hpp"

namespace paceline::plots {
namespace {

namespace fs = std::filesystem;
using nlohmann::json;

constexpr double low_quantile = 0.1;
constexpr double high_quantile = 0.9;

json manifest_of(const fs::path& folder) {
  std::error_code ignored;
  if (!fs::exists(folder / "runs.csv", ignored)) return nullptr;
  json manifest = json::parse(read_file(folder / "manifest.json"), nullptr, false);
  return manifest.is_object() && manifest.value("format", "") == "paceline-study" ? manifest : json(nullptr);
}

std::vector<std::string> columns_of_study(const json& manifest) {
  return manifest.value("columns", std::vector<std::string>{});
}

StudyFigureSpec spec_of(const json& figure) {
  StudyFigureSpec spec{.name = figure.at("name"),
                       .metric = figure.at("metric"),
                       .against = figure.at("against"),
                       .series = figure.value("series", ""),
                       .where = {},
                       .recorded = figure.value("recorded", ""),
                       .difference_from = figure.value("difference_from", "")};
  for (const auto& [column, labels] : figure.at("where").items())
    spec.where.emplace_back(column, labels.get<std::vector<std::string>>());
  return spec;
}

// Labels that are all numbers in one unit stand at their numbers.
void find_scale(StudyChart& chart) {
  for (const std::string& label : chart.axis_labels) {
    const auto number = split_number(label);
    if (!number || (&label != &chart.axis_labels.front() && number->unit != chart.unit)) {
      chart.is_numeric = false;
      chart.unit.clear();
      return;
    }
    chart.unit = number->unit;
  }
}

double place_of(const StudyChart& chart, const std::string& label) {
  if (chart.is_numeric) return split_number(label)->number;
  return static_cast<double>(std::ranges::find(chart.axis_labels, label) - chart.axis_labels.begin());
}

std::optional<double> unless_never(double value) {
  return value == never_reached ? std::nullopt : std::optional(value);
}

StudyPointValue point_of(double x, const std::vector<double>& values, const StudyFigureSpec& spec) {
  if (!spec.difference_from.empty()) {
    const MeanInterval of_mean = mean_interval(values);
    return {.x = x,
            .runs = values.size(),
            .middle = of_mean.mean,
            .low = of_mean.mean - of_mean.half_width,
            .high = of_mean.mean + of_mean.half_width};
  }
  return {.x = x,
          .runs = values.size(),
          .middle = unless_never(median(values)),
          .low = unless_never(quantile(values, low_quantile)),
          .high = unless_never(quantile(values, high_quantile))};
}

bool is_shown(const CsvRow& row, const StudyFigureSpec& spec) {
  return std::ranges::all_of(spec.where, [&](const auto& condition) {
    return std::ranges::count(condition.second, row.text(condition.first)) > 0;
  });
}

// Everything that tells a line from another: the series first, then whatever else is varied and not held to one label.
std::string series_name(const CsvRow& row, const StudyFigureSpec& spec,
                        const std::vector<std::string>& columns) {
  std::vector<std::string> parts;
  const auto add = [&](const std::string& column) {
    const std::string& label = row.text(column);
    parts.push_back(column == "variant" || split_number(label) == std::nullopt
                        ? label
                        : fmt::format("{} {}", column, label));
  };
  if (!spec.series.empty()) add(spec.series);
  for (const std::string& column : columns) {
    if (column == spec.against || column == spec.series) continue;
    const auto held =
        std::ranges::find(spec.where, column, [](const auto& condition) { return condition.first; });
    if (held == spec.where.end() || held->second.size() > 1) add(column);
  }
  return fmt::format("{}", fmt::join(parts, ", "));
}

void add_recorded(StudyChart& chart) {
  if (chart.spec.recorded.empty()) return;
  const CsvFile table(chart.spec.recorded, {"series", "x", "y"});
  for (const CsvRow& row : table.rows()) {
    const std::string& name = row.text("series");
    auto series = std::ranges::find(chart.series, name, &StudySeries::name);
    if (series == chart.series.end()) {
      std::vector<std::string> names;
      for (const StudySeries& one : chart.series) names.push_back(one.name);
      throw UserError(fmt::format("{}: the figure `{}` has no series `{}`", chart.spec.recorded.string(),
                                  chart.spec.name, name),
                      fmt::format("its series: {}", fmt::join(names, "; ")));
    }
    const std::string& x = row.text("x");
    const bool is_label = std::ranges::count(chart.axis_labels, x) > 0;
    const auto number = split_number(x);
    if (!is_label && (!chart.is_numeric || !number || (!number->unit.empty() && number->unit != chart.unit)))
      throw UserError(
          fmt::format("{}: `{}` is no place along `{}`", chart.spec.recorded.string(), x, chart.spec.against),
          "write a label of the study, or a number in its unit");
    series->recorded.push_back({is_label ? place_of(chart, x) : number->number, row.number("y")});
  }
}

}  // namespace

std::vector<StudyFigureSpec> study_figure_specs(const fs::path& folder) {
  const json manifest = manifest_of(folder);
  if (manifest.is_null()) return {};
  std::vector<StudyFigureSpec> specs;
  for (const json& figure : manifest.value("figures", json::array())) specs.push_back(spec_of(figure));
  const std::vector<std::string> columns = columns_of_study(manifest);
  if (!specs.empty() || columns.empty() || columns.back() == "variant") return specs;
  const CsvFile table(folder / "runs.csv", {"time_to_accuracy_s"}, results_csv());
  bool any_reached = false;
  for (const CsvRow& row : table.rows()) any_reached = any_reached || !row.text("time_to_accuracy_s").empty();
  return {{.name = "study",
           .metric = any_reached ? "time_to_accuracy_s" : "end_time_s",
           .against = columns.back(),
           .series = {},
           .where = {},
           .recorded = {},
           .difference_from = {}}};
}

StudyChart read_study_chart(const fs::path& folder, const StudyFigureSpec& spec) {
  const std::vector<std::string> columns = columns_of_study(manifest_of(folder));
  std::vector<std::string> needed = columns;
  needed.insert(needed.end(), {"status", spec.metric});
  if (!spec.difference_from.empty()) needed.emplace_back("replication");
  const CsvFile table(folder / "runs.csv", needed, results_csv());
  const ShownValues shown(table, spec, columns);
  StudyChart chart;
  chart.spec = spec;
  // By series and label, both in the order of the study.
  std::vector<std::string> names;
  std::map<std::pair<std::string, std::string>, std::vector<double>> values;
  std::set<std::string> assumed;
  const bool knows_learners = table.has("assumed_learner");  // older results do not
  for (const CsvRow& row : table.rows()) {
    if (!is_shown(row, spec)) continue;
    if (shown.is_cut_short(row)) ++chart.cut_short;
    if (shown.is_reference(row)) continue;
    const std::string name = series_name(row, spec, columns);
    const std::string& label = row.text(spec.against);
    if (std::ranges::count(names, name) == 0) names.push_back(name);
    if (knows_learners && row.count("assumed_learner") == 1) assumed.insert(name);
    if (std::ranges::count(chart.axis_labels, label) == 0) chart.axis_labels.push_back(label);
    if (const std::optional<double> value = shown.of(row)) values[{name, label}].push_back(*value);
  }
  find_scale(chart);
  for (const std::string& name : names) {
    StudySeries series{
        .name = name, .has_assumed_learner = assumed.contains(name), .points = {}, .recorded = {}};
    for (const std::string& label : chart.axis_labels) {
      auto found = values.find({name, label});
      if (found == values.end()) continue;
      series.points.push_back(point_of(place_of(chart, label), found->second, spec));
      if (!series.points.back().middle) ++chart.never;
    }
    std::ranges::stable_sort(series.points, {}, &StudyPointValue::x);
    chart.series.push_back(std::move(series));
  }
  add_recorded(chart);
  return chart;
}

}  // namespace paceline::plots

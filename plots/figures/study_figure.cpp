#include <algorithm>
#include <cmath>
#include <limits>

#include <fmt/format.h>

#include "plots/figures/figures.hpp"

namespace paceline::plots {
namespace {

constexpr double log_from_ratio = 30.0;
constexpr std::size_t most_labelled_tics = 9;

std::string file_name(std::string_view name) {
  std::string safe;
  for (const char c : name) {
    const bool kept = (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '-';
    safe += kept ? c : '-';
  }
  return safe.empty() ? "study" : safe;
}

struct Extent {
  double low = std::numeric_limits<double>::infinity();
  double high = -std::numeric_limits<double>::infinity();
  void include(double value) {
    low = std::min(low, value);
    high = std::max(high, value);
  }
  [[nodiscard]] bool is_empty() const { return low > high; }
  [[nodiscard]] bool is_logarithmic() const { return low > 0.0 && high / low >= log_from_ratio; }
};

struct Extents {
  Extent x;
  Extent y;
};

Extents extents_of(const StudyChart& chart) {
  Extents extents;
  for (const StudySeries& series : chart.series) {
    for (const StudyPointValue& point : series.points) {
      extents.x.include(point.x);
      for (const std::optional<double>& value : {point.middle, point.low, point.high})
        if (value && point.middle) extents.y.include(*value);
    }
    for (const RecordedPoint& point : series.recorded) {
      extents.x.include(point.x);
      extents.y.include(point.y);
    }
  }
  return extents;
}

// How the metric is written on its axis.
struct MetricScale {
  std::string title;
  double factor = 1.0;
};

MetricScale scale_of(const StudyFigureSpec& spec, const Extent& y) {
  const std::string& metric = spec.metric;
  const bool is_time = metric.ends_with("_s");
  const bool is_difference = !spec.difference_from.empty();
  std::string words = is_time ? metric.substr(0, metric.size() - 2) : metric;
  std::ranges::replace(words, '_', ' ');
  if (is_difference) words = "change of " + words;
  if (is_time) {
    const TimeUnit unit = time_unit_for(std::max(std::abs(y.low), std::abs(y.high)));
    return {fmt::format("{} ({})", words, unit.symbol), 1.0 / unit.seconds};
  }
  if (metric.ends_with("accuracy")) return {words + (is_difference ? " (points)" : " (%)"), 100.0};
  return {words, 1.0};
}

Axis metric_axis(const Extent& y, const MetricScale& scale) {
  const double low = scale.factor * y.low;
  const double high = scale.factor * y.high;
  if (y.is_logarithmic()) return {.title = scale.title, .from = low / 1.2, .to = high * 1.2, .log_base = 10};
  const double margin = high > low ? 0.06 * (high - low) : std::max(1.0, 0.1 * high);
  return {.title = scale.title, .from = low - margin, .to = high + margin};
}

Axis varied_axis(const StudyChart& chart, const Extent& x) {
  Axis axis{.title = chart.spec.against};
  std::ranges::replace(axis.title, '_', ' ');
  if (const auto word = chart.unit.find_first_not_of(' '); word != std::string::npos)
    axis.title += fmt::format(" ({})", chart.unit.substr(word));
  if (!chart.is_numeric) {
    for (const std::string& label : chart.axis_labels)
      axis.tics.push_back({label, static_cast<double>(axis.tics.size())});
    axis.from = -0.5;
    axis.to = static_cast<double>(axis.tics.size()) - 0.5;
  } else if (x.is_logarithmic()) {
    axis.log_base = 10;
    axis.from = x.low / 1.15;
    axis.to = x.high * 1.15;
    // What was tried says more than powers of ten.
    if (chart.axis_labels.size() <= most_labelled_tics)
      for (const std::string& label : chart.axis_labels) {
        const std::string number = label.substr(0, label.size() - chart.unit.size());
        axis.tics.push_back({number, std::stod(number)});
      }
  } else {
    const double margin = x.high > x.low ? 0.04 * (x.high - x.low) : 1.0;
    axis.from = x.low - margin;
    axis.to = x.high + margin;
  }
  return axis;
}

// Bars of several series stand side by side: a small step along the axis, or a small factor where it is
// logarithmic.
double beside(double place, const StudyChart& chart, const Extent& x, std::size_t series) {
  constexpr double share_of_axis = 0.008;
  const double step = static_cast<double>(series) - (static_cast<double>(chart.series.size()) - 1.0) / 2.0;
  if (chart.is_numeric && x.is_logarithmic()) return place * std::pow(x.high / x.low, share_of_axis * step);
  return place + share_of_axis * step * std::max(x.high - x.low, 1e-9);
}

void add_series(Panel& panel, const StudyChart& chart, const Extent& x, double factor, std::size_t index) {
  const StudySeries& series = chart.series[index];
  const Ink ink = series_ink(index);
  Table table{fmt::format("series_{}", index + 1), {"x", "middle", "low", "high", "runs"}};
  for (const StudyPointValue& point : series.points) {
    if (!point.middle) continue;
    const double middle = factor * *point.middle;
    // A quantile among runs that never get there is beyond every axis: its bar ends at the top.
    table.rows.push_back({beside(point.x, chart, x, index), middle, point.low ? factor * *point.low : middle,
                          point.high ? factor * *point.high : *panel.y.to, static_cast<double>(point.runs)});
  }
  panel.layers.push_back({Shape::error_bars, table, {"x", "middle", "low", "high"}, ink});
  panel.layers.push_back({Shape::line, table, {"x", "middle"}, ink});
  if (series.recorded.empty()) return;
  Table recorded{fmt::format("recorded_{}", index + 1), {"x", "y"}};
  for (const RecordedPoint& point : series.recorded) recorded.rows.push_back({point.x, factor * point.y});
  panel.layers.push_back({Shape::marks, recorded, recorded.columns, hollow(ink)});
}

std::string note_about(const StudyChart& chart) {
  std::size_t fewest = std::numeric_limits<std::size_t>::max();
  std::size_t most = 0;
  bool any_open = false;
  for (const StudySeries& series : chart.series)
    for (const StudyPointValue& point : series.points) {
      fewest = std::min(fewest, point.runs);
      most = std::max(most, point.runs);
      any_open = any_open || (point.middle && !point.high);
    }
  const std::string runs = fewest >= most ? fmt::format("{}", most) : fmt::format("{}–{}", fewest, most);
  const std::string left_out =
      chart.cut_short > 0 ? fmt::format("; without {} that diverged or stalled", chart.cut_short) : "";
  if (!chart.spec.difference_from.empty())
    return fmt::format(
        "less `{}` of the same replication: mean of {} pairs; bars: 95 % interval of the mean{}{}",
        chart.spec.difference_from, runs, fewest == 1 ? " (not known from one pair)" : "", left_out);
  std::string note =
      most == 1 ? "one run each" : fmt::format("median of {} runs; bars: 10–90 % of them", runs);
  if (any_open) note += " (to the top: some never get there)";
  if (chart.never > 0) note += fmt::format("; not drawn: {} whose median never gets there", chart.never);
  note += left_out;
  if (std::ranges::any_of(chart.series, [](const StudySeries& series) { return !series.recorded.empty(); }))
    note += "; hollow: recorded";
  return note;
}

}  // namespace

std::optional<Figure> study_figure(const StudyChart& chart) {
  auto [x, y] = extents_of(chart);
  if (y.is_empty()) return std::nullopt;
  const bool are_differences = !chart.spec.difference_from.empty();
  if (are_differences) y.include(0.0);
  const MetricScale scale = scale_of(chart.spec, y);
  Panel panel{.x = varied_axis(chart, x), .y = metric_axis(y, scale)};
  if (are_differences) panel.rules = {0.0};
  Figure figure{.name = file_name(chart.spec.name), .sample = Sample::line_marker, .note = note_about(chart)};
  for (std::size_t i = 0; i < chart.series.size(); ++i) {
    const StudySeries& series = chart.series[i];
    add_series(panel, chart, x, scale.factor, i);
    // A single series without a name needs no legend, unless nobody's runs stand behind it.
    if (series.has_assumed_learner)
      figure.legend.push_back({with_assumed_learner(series.name), series_ink(i)});
    else if (!series.name.empty())
      figure.legend.push_back({series.name, series_ink(i)});
  }
  figure.panels = {panel};
  return figure;
}

}  // namespace paceline::plots

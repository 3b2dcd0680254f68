#include <cmath>

#include <fmt/format.h>

#include "plots/figures/figures.hpp"

namespace paceline::plots {
namespace {

constexpr double log_from_ratio = 30.0;
constexpr std::size_t most_labelled_tics = 9;
constexpr double share_between_series = 0.008;  // of the axis
constexpr double share_of_category = 0.6;       // of the distance to the next

std::string file_name(std::string name) {
  for (char& c : name)
    if (!((c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9'))) c = '-';
  return name.empty() ? "study" : name;
}

bool is_logarithmic(const Extent& extent) {
  return extent.low > 0.0 && extent.high / extent.low >= log_from_ratio;
}

struct Extents {
  Extent x = {};
  Extent y = {};
};

Extents extents_of(const StudyChart& chart) {
  Extents extents;
  const auto include = [&](const StudyPoint& point) {
    extents.x.include(point.x);
    for (const std::optional<double>& value : {point.middle, point.low, point.high})
      if (value && point.middle) extents.y.include(*value);
  };
  for (const StudySeries& series : chart.series) {
    std::ranges::for_each(series.points, include);
    std::ranges::for_each(series.recorded, include);
  }
  if (!extents.y.is_empty() && !chart.spec.difference_from.empty()) extents.y.include(0.0);
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
  const Extent shown{scale.factor * y.low, scale.factor * y.high};
  if (is_logarithmic(y)) return shown.log_axis(scale.title, 10, 1.2);
  return shown.axis(scale.title,
                    shown.length() > 0.0 ? 0.06 * shown.length() : std::max(1.0, 0.1 * shown.high));
}

Axis varied_axis(const StudyChart& chart, const Extent& x) {
  std::string title = chart.spec.against;
  std::ranges::replace(title, '_', ' ');
  if (const auto word = chart.unit.find_first_not_of(' '); word != std::string::npos)
    title += fmt::format(" ({})", chart.unit.substr(word));
  const std::vector<std::string>& labels = chart.axis_labels;
  if (!chart.is_numeric) {
    Axis axis = Extent{0.0, static_cast<double>(labels.size()) - 1.0}.axis(title, 0.5);
    for (const std::string& label : labels)
      axis.tics.push_back({label, static_cast<double>(axis.tics.size())});
    return axis;
  }
  if (!is_logarithmic(x)) return x.axis(title, x.length() > 0.0 ? 0.04 * x.length() : 1.0);
  Axis axis = x.log_axis(title, 10, 1.15);
  // What was tried says more than powers of ten.
  if (labels.size() <= most_labelled_tics)
    for (const std::string& label : labels) {
      const std::string number = label.substr(0, label.size() - chart.unit.size());
      axis.tics.push_back({number, std::stod(number)});
    }
  return axis;
}

// Bars of several series stand side by side: a small step along the axis, or a small factor where it is
// logarithmic.
double beside(double place, const StudyChart& chart, const Extent& x, std::size_t series) {
  const double steps = static_cast<double>(series) - (static_cast<double>(chart.series.size()) - 1.0) / 2.0;
  if (!chart.is_numeric) return place + share_of_category * steps / static_cast<double>(chart.series.size());
  const double share = share_between_series * steps;
  if (is_logarithmic(x)) return place * std::pow(x.high / x.low, share);
  return place + share * std::max(x.length(), 1e-9);
}

void add_series(Panel& panel, const StudyChart& chart, const Extent& x, double factor, std::size_t index) {
  const StudySeries& series = chart.series[index];
  const Ink ink = series_ink(series.place);
  Table unknown{fmt::format("unknown_{}", index + 1), {"x", "diverged", "never"}};  // at the top of the axis
  Table table{fmt::format("series_{}", index + 1), {"x", "middle", "low", "high", "runs"}};
  for (const StudyPoint& point : series.points) {
    const double place = beside(point.x, chart, x, index);
    if (!point.middle || point.is_divergent()) {
      std::optional<double> top = panel.y.to;
      std::optional<double> none;
      unknown.rows.push_back({place, point.is_divergent() ? top : none, point.is_divergent() ? none : top});
    }
    if (!point.middle) continue;
    const double middle = factor * *point.middle;
    // A quantile among runs that never get there is beyond every axis: its bar ends at the top.
    table.rows.push_back({place, middle, point.low ? factor * *point.low : middle,
                          point.high ? factor * *point.high : *panel.y.to, static_cast<double>(point.runs)});
  }
  panel.layers.push_back({Shape::error_bars, table, {"x", "middle", "low", "high"}, ink});
  // Between categories there is nothing.
  if (chart.is_numeric) panel.layers.push_back({Shape::line, table, {"x", "middle"}, ink});
  if (!unknown.rows.empty()) {
    const Ink cross{.colour = ink.colour, .marker = cross_marker};
    const Ink triangle{.colour = ink.colour, .marker = triangle_marker};
    panel.layers.push_back({Shape::marks, unknown, {"x", "diverged"}, cross});
    panel.layers.push_back({Shape::marks, unknown, {"x", "never"}, triangle});
  }
  if (series.recorded.empty()) return;
  Table recorded{fmt::format("recorded_{}", index + 1), {"x", "y"}};
  for (const StudyPoint& point : series.recorded)
    recorded.rows.push_back({point.x, factor * point.middle.value()});
  panel.layers.push_back({Shape::marks, recorded, recorded.columns, hollow(ink)});
}

std::string note_about(const StudyChart& chart) {
  std::size_t fewest = std::numeric_limits<std::size_t>::max();
  std::size_t most = 0;
  bool any_open = false;
  bool any_divergent = false;
  bool any_never = false;
  bool any_recorded = false;
  for (const StudySeries& series : chart.series) {
    any_recorded = any_recorded || !series.recorded.empty();
    for (const StudyPoint& point : series.points) {
      fewest = std::min(fewest, point.runs);
      most = std::max(most, point.runs);
      any_divergent = any_divergent || point.is_divergent();
      any_never = any_never || (!point.middle && !point.is_divergent());
      any_open = any_open || (point.middle && !point.high);
    }
  }
  const std::string runs = fewest >= most ? fmt::format("{}", most) : fmt::format("{}–{}", fewest, most);
  const std::string left_out =
      chart.cut_short > 0 ? fmt::format("; without {} that diverged or stalled", chart.cut_short) : "";
  if (!chart.spec.difference_from.empty())
    return fmt::format(
        "less `{}` of the same replication: mean of {} pairs; bars: 95 % interval of the mean{}{}",
        chart.spec.difference_from, runs, fewest == 1 ? " (not known from one pair)" : "", left_out);
  std::string note = most == 1 ? "one run each"
                     : most < least_for_interval
                         ? fmt::format("median of {} runs", runs)
                         : fmt::format("median of {} runs; bars: 90 % prediction interval", runs);
  if (any_open) note += " (to the top: some never get there)";
  if (any_divergent) note += "; cross at the top: most runs diverged";
  if (any_never) note += "; triangle at the top: the median never gets there";
  return note + left_out + (any_recorded ? "; hollow: recorded" : "");
}

}  // namespace

std::optional<Figure> study_figure(const StudyChart& chart) {
  const auto [x, y] = extents_of(chart);
  if (y.is_empty()) return std::nullopt;
  const MetricScale scale = scale_of(chart.spec, y);
  Panel panel{.x = varied_axis(chart, x), .y = metric_axis(y, scale)};
  if (!chart.spec.difference_from.empty()) panel.rules = {0.0};
  Figure figure{.name = file_name(chart.spec.name),
                .sample = chart.is_numeric ? Sample::line_marker : Sample::marker,
                .note = note_about(chart)};
  for (std::size_t i = 0; i < chart.series.size(); ++i) {
    const StudySeries& series = chart.series[i];
    add_series(panel, chart, x, scale.factor, i);
    // A single series without a name needs no legend, unless nobody's runs stand behind it.
    const std::string name = series.has_assumed_learner ? with_assumed_learner(series.name) : series.name;
    if (!name.empty()) figure.legend.push_back({name, series_ink(series.place)});
  }
  figure.panels = {panel};
  return figure;
}

}  // namespace paceline::plots

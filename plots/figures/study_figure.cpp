#include "plots/figures/study_figure.hpp"

#include <algorithm>
#include <cmath>
#include <limits>

#include <fmt/format.h>

#include "plots/data/results.hpp"
#include "plots/page/page.hpp"
#include "plots/page/text.hpp"
#include "plots/page/time_unit.hpp"

namespace paceline::plots {
namespace {

constexpr double plot_left_in = 0.52;
constexpr double plot_top_in = 0.12;
constexpr double plot_height_in = 1.85;
constexpr double axis_below_in = 0.36;
constexpr double gap_in = 0.05;
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

// How the metric is written on its axis.
struct MetricScale {
  std::string title;
  double factor = 1.0;
};

MetricScale scale_of(const StudyFigureSpec& spec, double largest) {
  const std::string& metric = spec.metric;
  const bool is_time = metric.ends_with("_s");
  const bool is_difference = !spec.difference_from.empty();
  std::string words = is_time ? metric.substr(0, metric.size() - 2) : metric;
  std::ranges::replace(words, '_', ' ');
  if (is_difference) words = "change of " + words;
  if (is_time) {
    const TimeUnit unit = time_unit_for(largest);
    return {fmt::format("{} ({})", words, unit.symbol), 1.0 / unit.seconds};
  }
  if (metric.ends_with("accuracy")) return {words + (is_difference ? " (points)" : " (%)"), 100.0};
  return {words, 1.0};
}

// The vertical axis, in the units it is written in.
struct VerticalRange {
  double low = 0.0;
  double high = 1.0;
  bool is_logarithmic = false;
};

VerticalRange range_of(const Extent& y, double factor) {
  const double low = factor * y.low;
  const double high = factor * y.high;
  if (y.is_logarithmic()) return {low / 1.2, high * 1.2, true};
  const double margin = high > low ? 0.06 * (high - low) : std::max(1.0, 0.1 * high);
  return {low - margin, high + margin, false};
}

// A quantile among runs that never get there is beyond every axis: its bar ends at the top.
std::string data_rows(const StudySeries& series, double factor, double top) {
  std::string rows = "# x middle low high runs\n";
  for (const StudyPointValue& point : series.points) {
    if (!point.middle) continue;
    const double middle = factor * *point.middle;
    rows += fmt::format("{:.9g} {:.9g} {:.9g} {:.9g} {}\n", point.x, middle,
                        point.low ? factor * *point.low : middle, point.high ? factor * *point.high : top,
                        point.runs);
  }
  return rows;
}

std::string recorded_rows(const StudySeries& series, double factor) {
  std::string rows = "# x y\n";
  for (const RecordedPoint& point : series.recorded)
    rows += fmt::format("{:.9g} {:.9g}\n", point.x, factor * point.y);
  return rows;
}

// What was tried says more than powers of ten.
std::string tics_at_labels(const StudyChart& chart) {
  std::string tics;
  for (const std::string& label : chart.axis_labels) {
    const std::string number = label.substr(0, label.size() - chart.unit.size());
    tics += fmt::format("{}{} {}", tics.empty() ? "" : ", ", gnuplot_string(number), number);
  }
  return fmt::format("set xtics ({})", tics);
}

void set_axes(Page& page, const StudyChart& chart, const Extent& x, const VerticalRange& y) {
  if (chart.is_numeric) {
    const double margin = x.high > x.low ? 0.04 * (x.high - x.low) : 1.0;
    if (x.is_logarithmic()) {
      page.set("set logscale x");
      if (chart.axis_labels.size() <= most_labelled_tics) page.set(tics_at_labels(chart));
      page.set(fmt::format("set xrange [{}:{}]", x.low / 1.15, x.high * 1.15));
    } else {
      page.set(fmt::format("set xrange [{}:{}]", x.low - margin, x.high + margin));
    }
  } else {
    std::string tics;
    for (std::size_t i = 0; i < chart.axis_labels.size(); ++i)
      tics += fmt::format("{}{} {}", i == 0 ? "" : ", ", gnuplot_string(chart.axis_labels[i]), i);
    const bool are_long = std::ranges::any_of(chart.axis_labels, [&](const std::string& label) {
      return text_width_in(label, tick_pt) >
             0.9 * (page_width_in - plot_left_in) / static_cast<double>(chart.axis_labels.size());
    });
    page.set(fmt::format("set xtics ({}){}", tics, are_long ? " rotate by 30 right" : ""));
    page.set(fmt::format("set xrange [-0.5:{}]", static_cast<double>(chart.axis_labels.size()) - 0.5));
  }
  if (y.is_logarithmic) page.set("set logscale y");
  if (!chart.spec.difference_from.empty())
    page.set("set xzeroaxis linetype 1 dashtype solid linewidth 0.8 linecolor rgb \"#808080\"");
  page.set(fmt::format("set yrange [{}:{}]", y.low, y.high));
  page.set("set grid ytics linetype 1 dashtype solid linewidth 0.4 linecolor rgb \"#E4E4E4\"");
}

// The hollow sibling of a marker.
int hollow(int marker) {
  return marker % 2 == 1 ? marker - 1 : marker;
}

// Bars of several series stand side by side: a small step along the axis, or a small factor where it is logarithmic.
std::string side_by_side(const StudyChart& chart, const Extent& x, std::size_t series) {
  constexpr double share_of_axis = 0.008;
  const double step = static_cast<double>(series) - (static_cast<double>(chart.series.size()) - 1.0) / 2.0;
  if (chart.is_numeric && x.is_logarithmic())
    return fmt::format("($1*{:.6g})", std::pow(x.high / x.low, share_of_axis * step));
  return fmt::format("($1+{:.6g})", share_of_axis * step * std::max(x.high - x.low, 1e-9));
}

void draw_series(Page& page, const StudyChart& chart, const Extent& x) {
  std::vector<std::string> layers;
  for (std::size_t i = 0; i < chart.series.size(); ++i) {
    const SeriesStyle style = series_style(i);
    const std::string data = fmt::format("$series_{} using {}", i + 1, side_by_side(chart, x, i));
    layers.push_back(fmt::format("{}:2:3:4 with yerrorbars pointtype {} linewidth 0.8 linecolor rgb \"{}\"",
                                 data, style.marker, style.colour));
    layers.push_back(fmt::format("{}:2 with lines linewidth 1.4 linecolor rgb \"{}\" dashtype {}", data,
                                 style.colour, style.dash));
    if (!chart.series[i].recorded.empty())
      layers.push_back(fmt::format(
          "$recorded_{} using 1:2 with points pointtype {} pointsize 0.75 linewidth 1.2 linecolor rgb \"{}\"",
          i + 1, hollow(style.marker), style.colour));
  }
  for (std::size_t i = 0; i < layers.size(); ++i)
    page.draw(
        fmt::format("{}{}{}", i == 0 ? "plot " : "     ", layers[i], i + 1 == layers.size() ? "" : ", \\"));
}

std::string left_out(const StudyChart& chart) {
  if (chart.cut_short == 0) return "";
  return fmt::format("; without {} that diverged or stalled", chart.cut_short);
}

std::string note_about(const StudyChart& chart, bool any_recorded) {
  std::size_t fewest = std::numeric_limits<std::size_t>::max();
  std::size_t most = 0;
  for (const StudySeries& series : chart.series)
    for (const StudyPointValue& point : series.points) {
      fewest = std::min(fewest, point.runs);
      most = std::max(most, point.runs);
    }
  const std::string runs = fewest >= most ? fmt::format("{}", most) : fmt::format("{}–{}", fewest, most);
  if (!chart.spec.difference_from.empty())
    return fmt::format(
        "less `{}` of the same replication: mean of {} pairs; bars: 95 % interval of the mean{}{}",
        chart.spec.difference_from, runs, fewest == 1 ? " (not known from one pair)" : "", left_out(chart));
  std::string note =
      most == 1 ? "one run each" : fmt::format("median of {} runs; bars: 10–90 % of them", runs);
  const bool any_open = std::ranges::any_of(chart.series, [](const StudySeries& series) {
    return std::ranges::any_of(series.points,
                               [](const StudyPointValue& point) { return point.middle && !point.high; });
  });
  if (any_open) note += " (to the top: some never get there)";
  if (chart.never > 0) note += fmt::format("; not drawn: {} whose median never gets there", chart.never);
  note += left_out(chart);
  if (any_recorded) note += "; hollow: recorded";
  return note;
}

// Names for the legend; a single series without a name needs none, unless nobody's runs stand behind it.
std::vector<std::string> legend_names(const StudyChart& chart) {
  std::vector<std::string> names;
  for (const StudySeries& series : chart.series)
    if (!series.name.empty() || series.has_assumed_learner)
      names.push_back(series.has_assumed_learner ? with_assumed_learner(series.name) : series.name);
  return names;
}

}  // namespace

std::optional<Figure> study_figure(const StudyChart& chart, std::string_view command) {
  Extent x;
  Extent y;
  bool any_recorded = false;
  for (const StudySeries& series : chart.series) {
    for (const StudyPointValue& point : series.points) {
      x.include(point.x);
      for (const std::optional<double>& value : {point.middle, point.low, point.high})
        if (value && point.middle) y.include(*value);
    }
    for (const RecordedPoint& point : series.recorded) {
      any_recorded = true;
      x.include(point.x);
      y.include(point.y);
    }
  }
  if (y.is_empty()) return std::nullopt;
  if (!chart.spec.difference_from.empty()) y.include(0.0);
  const MetricScale scale = scale_of(chart.spec, std::max(std::abs(y.low), std::abs(y.high)));
  const VerticalRange vertical = range_of(y, scale.factor);
  const Legend legend(legend_names(chart), Legend::Sample::line_marker);
  const Footer footer(note_about(chart, any_recorded), command);
  const double legend_top_in = plot_top_in + plot_height_in + axis_below_in + gap_in;
  const double footer_top_in = legend_top_in + legend.height_in() + gap_in;

  Page page(footer_top_in + footer.height_in());
  for (std::size_t i = 0; i < chart.series.size(); ++i) {
    page.set(fmt::format("$series_{} << END_OF_DATA\n{}END_OF_DATA", i + 1,
                         data_rows(chart.series[i], scale.factor, vertical.high)));
    if (!chart.series[i].recorded.empty())
      page.set(fmt::format("$recorded_{} << END_OF_DATA\n{}END_OF_DATA", i + 1,
                           recorded_rows(chart.series[i], scale.factor)));
  }
  set_axes(page, chart, x, vertical);
  const double plot_width_in = page_width_in - plot_left_in - 0.12;
  page.frame(plot_left_in, plot_top_in, plot_width_in, plot_height_in);
  page.text(scale.title, 0.10, plot_top_in + plot_height_in / 2.0, {.align = Align::center, .upright = true});
  std::string x_title = chart.spec.against;
  std::ranges::replace(x_title, '_', ' ');
  if (const auto word = chart.unit.find_first_not_of(' '); word != chart.unit.npos)
    x_title += fmt::format(" ({})", chart.unit.substr(word));
  page.text(x_title, plot_left_in + plot_width_in / 2.0, plot_top_in + plot_height_in + 0.28,
            {.align = Align::center});
  legend.place(page, legend_top_in);
  footer.place(page, footer_top_in);
  draw_series(page, chart, x);
  const std::string name = file_name(chart.spec.name);
  return Figure{name, page.script(name, command)};
}

}  // namespace paceline::plots

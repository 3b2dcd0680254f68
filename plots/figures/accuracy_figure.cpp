#include <algorithm>
#include <cmath>
#include <set>

#include <fmt/format.h>

#include "plots/data/curve_band.hpp"
#include "plots/figures.hpp"
#include "plots/page/page.hpp"
#include "plots/page/text.hpp"
#include "plots/page/time_unit.hpp"

namespace paceline::plots {
namespace {

constexpr std::size_t grid_intervals = 240;  // finer than a printed column can show
constexpr std::size_t markers_per_curve = 7;
constexpr double plot_left_in = 0.46;
constexpr double plot_top_in = 0.14;
constexpr double plot_height_in = 1.85;
constexpr double axis_below_in = 0.32;
constexpr double gap_in = 0.05;

using Bands = std::vector<std::vector<BandPoint>>;

std::string data_rows(const std::vector<BandPoint>& band) {
  std::string rows = "# time_s running median low high\n";
  for (const BandPoint& point : band)
    rows += fmt::format("{:.9g} {} {:.9g} {:.9g} {:.9g}\n", point.time_s, point.running, point.median,
                        point.low, point.high);
  return rows;
}

struct Range {
  double low;
  double high;
  double step;
};

// In per cent, out to the next ticks.
Range accuracy_range(const Bands& bands, const std::set<double>& targets) {
  Range range{1.0, 0.0, 0.0};
  const auto include = [&](double accuracy) {
    range.low = std::min(range.low, accuracy);
    range.high = std::max(range.high, accuracy);
  };
  for (const auto& band : bands) {
    for (const BandPoint& point : band) {
      include(point.low);
      include(point.high);
    }
  }
  for (const double target : targets) include(target);
  const double span = 100.0 * (range.high - range.low);
  range.step = span > 50.0 ? 20.0 : span > 20.0 ? 10.0 : 5.0;
  range.low = range.step * std::floor(100.0 * range.low / range.step);
  range.high = range.step * std::ceil(100.0 * range.high / range.step);
  if (range.high <= range.low) range.high = range.low + range.step;
  return range;
}

std::string note_about(const std::vector<PlottedRun>& runs) {
  std::set<std::size_t> counts;
  for (const PlottedRun& run : runs) counts.insert(run.curves.size());
  if (counts == std::set<std::size_t>{1}) return "one run each";
  const std::string number = counts.size() == 1 ? fmt::format("{} runs", *counts.begin()) : "the runs";
  return fmt::format(
      "line: median of {}, until half have stopped; band: 10–90 % of them; a run that stopped keeps its last "
      "accuracy",
      number);
}

void draw_axes(Page& page, const Range& y, double longest_s, const TimeUnit& unit) {
  page.set(fmt::format("set xrange [0:{}]", longest_s > 0.0 ? longest_s / unit.seconds : 1.0));
  page.set(fmt::format("set yrange [{}:{}]", y.low, y.high));
  page.set(fmt::format("set ytics {}", y.step));
  page.set("set grid ytics linetype 1 dashtype solid linewidth 0.4 linecolor rgb \"#E4E4E4\"");
  const double plot_width_in = page_width_in - plot_left_in - 0.12;
  page.frame(plot_left_in, plot_top_in, plot_width_in, plot_height_in);
  page.text("accuracy (%)", 0.10, plot_top_in + plot_height_in / 2.0,
            {.align = Align::center, .upright = true});
  page.text(fmt::format("time ({})", unit.symbol), plot_left_in + plot_width_in / 2.0,
            plot_top_in + plot_height_in + 0.24, {.align = Align::center});
}

void draw_targets(Page& page, const std::set<double>& targets) {
  for (const double target : targets) {
    page.draw(fmt::format(
        "set arrow from graph 0, first {0} to graph 1, first {0} nohead linewidth 0.6 linecolor rgb \"{1}\" "
        "front",
        100.0 * target, note_colour));
    page.draw(fmt::format(
        "set label {} at graph 0.012, first {} left offset 0,0.42 font \",{}\" textcolor rgb \"{}\" front",
        gnuplot_string(fmt::format("target {:.4g} %", 100.0 * target)), 100.0 * target, note_pt,
        note_colour));
  }
}

// All bands first: a line must not disappear under another policy's band.
void draw_curves(Page& page, const std::vector<PlottedRun>& runs, const TimeUnit& unit) {
  std::vector<std::string> layers;
  for (std::size_t i = 0; i < runs.size(); ++i) {
    if (runs[i].curves.size() < 2) continue;
    layers.push_back(
        fmt::format("$curve_{} using ($1/{}):(100*$4):(100*$5) with filledcurves fillcolor rgb \"{}\" "
                    "fillstyle transparent "
                    "solid {} noborder",
                    i + 1, unit.seconds, series_style(i).colour, runs.size() > 4 ? 0.12 : 0.18));
  }
  for (std::size_t i = 0; i < runs.size(); ++i) {
    const SeriesStyle style = series_style(i);
    const std::string columns =
        fmt::format("($1/{}):(2*$2 >= {} ? 100*$3 : NaN)", unit.seconds, runs[i].curves.size());
    layers.push_back(
        fmt::format("$curve_{} using {} with lines linewidth 1.6 linecolor rgb \"{}\" dashtype {}", i + 1,
                    columns, style.colour, style.dash));
    const std::size_t step = grid_intervals / markers_per_curve;
    const std::size_t first = step * (2 * i + 1) / (2 * runs.size());
    layers.push_back(
        fmt::format("$curve_{} every {}::{} using {} with points pointtype {} linecolor rgb \"{}\"", i + 1,
                    step, first, columns, style.marker, style.colour));
  }
  for (std::size_t i = 0; i < layers.size(); ++i)
    page.draw(
        fmt::format("{}{}{}", i == 0 ? "plot " : "     ", layers[i], i + 1 == layers.size() ? "" : ", \\"));
}

}  // namespace

std::optional<Figure> accuracy_figure(const std::vector<PlottedRun>& all, std::string_view command) {
  std::vector<PlottedRun> runs;
  for (const PlottedRun& run : all)
    if (!run.curves.empty()) runs.push_back(run);
  if (runs.empty()) return std::nullopt;

  Bands bands;
  std::set<double> targets;
  std::vector<std::string> names;
  double longest_s = 0.0;
  for (const PlottedRun& run : runs) {
    bands.push_back(accuracy_band(run.curves, grid_intervals));
    longest_s = std::max(longest_s, bands.back().back().time_s);
    if (run.target_accuracy) targets.insert(*run.target_accuracy);
    names.push_back(run.name);
  }
  const bool banded = std::ranges::any_of(runs, [](const PlottedRun& run) { return run.curves.size() > 1; });
  const Legend legend(names, banded ? Legend::Sample::line_marker_band : Legend::Sample::line_marker);
  const Footer footer(note_about(runs), command);
  const double legend_top_in = plot_top_in + plot_height_in + axis_below_in + gap_in;
  const double footer_top_in = legend_top_in + legend.height_in() + gap_in;
  const TimeUnit unit = time_unit_for(longest_s);

  Page page(footer_top_in + footer.height_in());
  for (std::size_t i = 0; i < bands.size(); ++i)
    page.set(fmt::format("$curve_{} << END_OF_DATA\n{}END_OF_DATA", i + 1, data_rows(bands[i])));
  draw_axes(page, accuracy_range(bands, targets), longest_s, unit);
  draw_targets(page, targets);
  legend.place(page, legend_top_in);
  footer.place(page, footer_top_in);
  draw_curves(page, runs, unit);
  return Figure{std::string(accuracy_figure_name), page.script(accuracy_figure_name, command)};
}

}  // namespace paceline::plots

#include <cmath>
#include <set>

#include <fmt/format.h>

#include "plots/data/samples.hpp"
#include "plots/figures/figures.hpp"

namespace paceline::plots {
namespace {

constexpr std::size_t grid_intervals = 240;  // finer than a printed column can show
constexpr std::size_t markers_per_curve = 7;

// From tic to tic, in per cent.
Axis accuracy_axis(const Extent& accuracies) {
  const double span = 100.0 * accuracies.length();
  const double step = span > 50.0 ? 20.0 : span > 20.0 ? 10.0 : 5.0;
  const double low = step * std::floor(100.0 * accuracies.low / step);
  const double high = std::max(step * std::ceil(100.0 * accuracies.high / step), low + step);
  return {.title = "accuracy (%)", .from = low, .to = high, .step = step};
}

// The median ends where fewer than half of the replications still run.
Table curve_table(const std::string& name, const std::vector<BandPoint>& band, std::size_t replications,
                  const TimeUnit& unit) {
  Table table{name, {"time", "running", "median", "low", "high"}};
  for (const BandPoint& point : band) {
    const bool is_shown = 2 * point.running >= replications;
    table.rows.push_back({point.time_s / unit.seconds, static_cast<double>(point.running),
                          is_shown ? std::optional(100.0 * point.median) : std::nullopt, 100.0 * point.low,
                          100.0 * point.high});
  }
  return table;
}

// Some points of a curve, at other times than those of the other curves.
Table marker_table(const std::string& name, const Table& curve, std::size_t index, std::size_t curves) {
  Table table{name, curve.columns};
  constexpr std::size_t step = grid_intervals / markers_per_curve;
  for (std::size_t row = step * (2 * index + 1) / (2 * curves); row < curve.rows.size(); row += step)
    table.rows.push_back(curve.rows[row]);
  return table;
}

std::string note_on_curves(const std::vector<PlottedRun>& runs) {
  std::set<std::size_t> counts;
  for (const PlottedRun& run : runs) counts.insert(run.curves.size());
  if (counts == std::set<std::size_t>{1}) return "one run each";
  return fmt::format(
      "line: median of {}, until half have stopped; band: 10–90 % of them; a run that stopped keeps its last "
      "accuracy",
      counts.size() == 1 ? fmt::format("{} runs", *counts.begin()) : "the runs");
}

}  // namespace

std::optional<Figure> accuracy_figure(const ShownRuns& shown) {
  const auto runs = shown.those_with([](const PlottedRun& run) { return !run.curves.empty(); });
  if (runs.empty()) return std::nullopt;
  std::vector<std::vector<BandPoint>> bands;
  std::set<double> targets;
  Extent accuracies;
  double longest_s = 0.0;
  for (const PlottedRun& run : runs) {
    bands.push_back(accuracy_band(run.curves, grid_intervals));
    longest_s = std::max(longest_s, bands.back().back().time_s);
    if (run.target_accuracy) targets.insert(*run.target_accuracy);
    for (const BandPoint& point : bands.back())
      for (const double accuracy : {point.low, point.high}) accuracies.include(accuracy);
  }
  for (const double target : targets) accuracies.include(target);
  const TimeUnit unit = time_unit_for(longest_s);
  Panel panel{.x = time_axis("time", longest_s, unit), .y = accuracy_axis(accuracies)};
  for (const double target : targets) {
    panel.rules.push_back(100.0 * target);
    panel.texts.push_back({.content = fmt::format("target {:.4g} %", 100.0 * target),
                           .across = 0.012,
                           .y = 100.0 * target,
                           .style = {.size = TextSize::small, .colour = note_colour},
                           .is_above = true});
  }
  Figure figure{.sample = Sample::line_marker, .note = note_on_curves(runs)};
  std::vector<Layer> lines;
  for (std::size_t i = 0; i < runs.size(); ++i) {
    const std::size_t replications = runs[i].curves.size();
    const Ink ink = series_ink(runs[i].series);
    const Table curve = curve_table(fmt::format("curve_{}", i + 1), bands[i], replications, unit);
    const Table markers = marker_table(fmt::format("markers_{}", i + 1), curve, i, runs.size());
    if (replications > 1) {
      figure.sample = Sample::line_marker_band;
      panel.layers.push_back({Shape::band, curve, {"time", "low", "high"}, ink});
    }
    lines.push_back({Shape::line, curve, {"time", "median"}, ink});
    lines.push_back({Shape::points, markers, {"time", "median"}, ink});
    figure.legend.push_back({is_divergent(runs[i]) ? fmt::format("{} (diverged: {} of {})", runs[i].name,
                                                                 runs[i].diverged, runs[i].replications)
                                                   : runs[i].name,
                             ink});
  }
  // All bands first: a line must not disappear under another policy's band.
  panel.layers.insert(panel.layers.end(), lines.begin(), lines.end());
  figure.panels = {panel};
  return figure;
}

}  // namespace paceline::plots

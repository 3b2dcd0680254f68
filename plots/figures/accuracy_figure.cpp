#include <cmath>
#include <set>

#include <fmt/format.h>

#include "plots/data/samples.hpp"
#include "plots/figures/figures.hpp"

namespace paceline::plots {
namespace {

constexpr std::size_t grid_intervals = 240;  // finer than a printed column can show
constexpr std::size_t markers_per_curve = 7;
constexpr std::size_t lines_in_one_panel =
    6;  // more are a tangle: a panel each, the others behind it in grey
constexpr auto others_colour = "#CCCCCC";

// What is drawn over what.
struct CurveKind {
  bool is_loss = false;
  bool is_over_samples = false;
};

// From tic to tic, in per cent.
Axis accuracy_axis(const Extent& accuracies) {
  const double span = accuracies.length();
  const double step = span > 50.0 ? 20.0 : span > 20.0 ? 10.0 : 5.0;
  const double low = step * std::floor(accuracies.low / step);
  const double high = std::max(step * std::ceil(accuracies.high / step), low + step);
  return {.title = "accuracy (%)", .from = low, .to = high, .step = step};
}

// The curves as they are drawn: `time_s` is what they are drawn over, `accuracy` what is drawn.
std::vector<LearningCurve> shown_curves(const PlottedRun& run, const CurveKind& kind) {
  std::vector<LearningCurve> curves;
  for (const LearningCurve& curve : run.curves) {
    LearningCurve shown;
    for (const Evaluation& one : curve) {
      if (kind.is_loss && !one.loss) continue;
      shown.push_back(
          {kind.is_over_samples ? one.samples : one.time_s, kind.is_loss ? *one.loss : 100.0 * one.accuracy});
    }
    if (!shown.empty()) curves.push_back(std::move(shown));
  }
  return curves;
}

// To the end of the last replication: one that stopped keeps its last value.
Table curve_table(const std::string& name, const std::vector<BandPoint>& band, double unit) {
  Table table{name, {"at", "running", "median", "low", "high"}};
  for (const BandPoint& point : band)
    table.rows.push_back(
        {point.time_s / unit, static_cast<double>(point.running), point.median, point.low, point.high});
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
  return fmt::format("line: median of {}; band: 10–90 % of them; a run that stopped keeps its last value",
                     counts.size() == 1 ? fmt::format("{} runs", *counts.begin()) : "the runs");
}

std::string legend_name(const PlottedRun& run) {
  return is_divergent(run) ? fmt::format("{} (diverged: {} of {})", run.name, run.diverged, run.replications)
                           : run.name;
}

void add_target(Panel& panel, double target_percent) {
  panel.rules.push_back(target_percent);
  panel.texts.push_back({.content = fmt::format("target {:.4g} %", target_percent),
                         .across = 0.012,
                         .y = target_percent,
                         .style = {.size = TextSize::small, .colour = note_colour},
                         .is_above = true});
}

struct Drawn {
  std::vector<PlottedRun> runs;
  std::vector<Table> curves;
  Panel frame;
};

Drawn drawn_curves(const ShownRuns& shown, const CurveKind& kind) {
  Drawn drawn;
  std::vector<std::vector<BandPoint>> bands;
  std::set<double> targets;
  Extent values;
  double longest = 0.0;
  for (const PlottedRun& run : shown.runs) {
    const std::vector<LearningCurve> curves = shown_curves(run, kind);
    if (curves.empty()) continue;
    drawn.runs.push_back(run);
    bands.push_back(accuracy_band(curves, grid_intervals));
    longest = std::max(longest, bands.back().back().time_s);
    if (run.target_accuracy && !kind.is_loss) targets.insert(100.0 * *run.target_accuracy);
    for (const BandPoint& point : bands.back())
      for (const double value : {point.low, point.high}) values.include(value);
  }
  if (drawn.runs.empty()) return drawn;
  for (const double target : targets) values.include(target);
  const TimeUnit unit = kind.is_over_samples ? TimeUnit{"", 1e6} : time_unit_for(longest);
  drawn.frame.x =
      kind.is_over_samples
          ? Axis{.title = "samples (millions)", .from = 0.0, .to = longest > 0.0 ? longest / 1e6 : 1.0}
          : time_axis("time", longest, unit);
  drawn.frame.y =
      kind.is_loss ? Axis{.title = "loss", .from = 0.0, .to = 1.04 * values.high} : accuracy_axis(values);
  for (const double target : targets) add_target(drawn.frame, target);
  for (std::size_t i = 0; i < bands.size(); ++i)
    drawn.curves.push_back(curve_table(fmt::format("curve_{}", i + 1), bands[i], unit.seconds));
  return drawn;
}

// All in one panel, with a legend.
Figure together(const Drawn& drawn) {
  Figure figure{.sample = Sample::line_marker};
  Panel panel = drawn.frame;
  std::vector<Layer> lines;
  for (std::size_t i = 0; i < drawn.runs.size(); ++i) {
    const Ink ink = series_ink(drawn.runs[i].series);
    const Table& curve = drawn.curves[i];
    if (drawn.runs[i].curves.size() > 1) {
      figure.sample = Sample::line_marker_band;
      panel.layers.push_back({Shape::band, curve, {"at", "low", "high"}, ink});
    }
    const Table markers = marker_table(fmt::format("markers_{}", i + 1), curve, i, drawn.runs.size());
    lines.push_back({Shape::line, curve, {"at", "median"}, ink});
    lines.push_back({Shape::points, markers, {"at", "median"}, ink});
    figure.legend.push_back({legend_name(drawn.runs[i]), ink});
  }
  // All bands first: a line must not disappear under another policy's band.
  panel.layers.insert(panel.layers.end(), lines.begin(), lines.end());
  figure.panels = {panel};
  return figure;
}

// A panel each, over the medians of all.
Figure apart(const Drawn& drawn) {
  // Longer names would be cut above a third of the width.
  constexpr std::size_t longest_name = 36;
  const bool has_long_names = std::ranges::any_of(
      drawn.runs, [](const PlottedRun& run) { return legend_name(run).size() > longest_name; });
  Figure figure{.columns = drawn.runs.size() > 12 && !has_long_names ? 3U : 2U};
  for (std::size_t i = 0; i < drawn.runs.size(); ++i) {
    const Ink ink = series_ink(drawn.runs[i].series);
    Panel panel = drawn.frame;
    panel.title = legend_name(drawn.runs[i]);
    panel.height_in = 0.7;
    if (i > 0) panel.texts.clear();  // the rule is the same in all
    for (std::size_t other = 0; other < drawn.curves.size(); ++other) {
      if (other == i) continue;
      panel.layers.push_back({Shape::line, drawn.curves[other], {"at", "median"}, {.colour = others_colour}});
      panel.layers.back().line_width = 0.6;
    }
    if (drawn.runs[i].curves.size() > 1)
      panel.layers.push_back({Shape::band, drawn.curves[i], {"at", "low", "high"}, ink});
    panel.layers.push_back({Shape::line, drawn.curves[i], {"at", "median"}, {.colour = ink.colour}});
    figure.panels.push_back(std::move(panel));
  }
  return figure;
}

// A panel for each case that policies meet, with all of them in it.
Figure by_case(const Drawn& drawn) {
  Figure figure{.columns = 2U, .sample = Sample::line_marker};
  std::vector<std::string> cases;
  std::set<std::string> named;
  for (const PlottedRun& run : drawn.runs) {
    if (std::ranges::count(cases, run.at) == 0) cases.push_back(run.at);
    if (named.insert(run.choice).second) figure.legend.push_back({run.choice, series_ink(run.series)});
    if (run.curves.size() > 1) figure.sample = Sample::line_marker_band;
  }
  for (const std::string& at : cases) {
    Panel panel = drawn.frame;
    panel.title = at;
    panel.height_in = 1.1;
    if (!figure.panels.empty()) panel.texts.clear();  // the rule is the same in all
    std::vector<Layer> lines;
    for (std::size_t i = 0; i < drawn.runs.size(); ++i) {
      const PlottedRun& run = drawn.runs[i];
      if (run.at != at) continue;
      const Ink ink = series_ink(run.series);
      const Table& curve = drawn.curves[i];
      if (run.curves.size() > 1) panel.layers.push_back({Shape::band, curve, {"at", "low", "high"}, ink});
      const Table markers =
          marker_table(fmt::format("markers_{}", i + 1), curve, lines.size() / 2, named.size());
      lines.push_back({Shape::line, curve, {"at", "median"}, ink});
      lines.push_back({Shape::points, markers, {"at", "median"}, ink});
    }
    panel.layers.insert(panel.layers.end(), lines.begin(), lines.end());
    figure.panels.push_back(std::move(panel));
  }
  return figure;
}

// Several cases, in each of which the policies can be told apart by their lines.
bool has_cases(const Drawn& drawn) {
  std::set<std::string> cases;
  std::set<std::string> choices;
  for (const PlottedRun& run : drawn.runs) {
    cases.insert(run.at);
    choices.insert(run.choice);
  }
  return cases.size() > 1 && !cases.contains("") && choices.size() <= lines_in_one_panel;
}

std::string note_on_divergence(const Drawn& drawn) {
  std::string note;
  for (const PlottedRun& run : drawn.runs)
    if (is_divergent(run))
      note += fmt::format("{}{} ({} of {})", note.empty() ? "; diverged: " : ", ", run.name, run.diverged,
                          run.replications);
  return note;
}

std::optional<Figure> curve_figure(const ShownRuns& shown, const CurveKind& kind) {
  const Drawn drawn = drawn_curves(shown, kind);
  if (drawn.runs.empty()) return std::nullopt;
  if (has_cases(drawn)) {
    Figure figure = by_case(drawn);
    figure.note = note_on_curves(drawn.runs) + note_on_divergence(drawn);
    return figure;
  }
  const bool is_tangle = drawn.runs.size() > lines_in_one_panel;
  Figure figure = is_tangle ? apart(drawn) : together(drawn);
  figure.note = note_on_curves(drawn.runs) + (is_tangle ? "; grey: the others" : "");
  return figure;
}

}  // namespace

std::optional<Figure> accuracy_figure(const ShownRuns& shown) {
  return curve_figure(shown, {});
}
std::optional<Figure> accuracy_over_samples_figure(const ShownRuns& shown) {
  return curve_figure(shown, {.is_over_samples = true});
}
std::optional<Figure> loss_figure(const ShownRuns& shown) {
  return curve_figure(shown, {.is_loss = true});
}
std::optional<Figure> loss_over_samples_figure(const ShownRuns& shown) {
  return curve_figure(shown, {.is_loss = true, .is_over_samples = true});
}

}  // namespace paceline::plots

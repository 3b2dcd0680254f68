// Converged accuracy and time of whole jobs, side by side for each policy, with recorded values as hollow markers.
#include <algorithm>
#include <cmath>

#include <fmt/format.h>

#include "plots/figures.hpp"
#include "plots/page/page.hpp"
#include "plots/page/text.hpp"
#include "sim/base/csv.hpp"

namespace paceline::plots {
namespace {

constexpr double left_in = 0.10;
constexpr double between_in = 0.14;
constexpr double top_in = 0.06;
constexpr double name_line_in = 0.135;
constexpr double bar_in = 0.12;
constexpr double row_gap_in = 0.09;
constexpr double row_in = name_line_in + 0.025 + bar_in + row_gap_in;
constexpr double axis_below_in = 0.36;
constexpr int tics_max = 6;  // more labels touch each other
constexpr int filled_circle = 7;
constexpr int hollow_circle = 6;
constexpr double panel_in = (page_width_in - left_in - between_in - 0.16) / 2.0;

struct Spread {
  double mean = 0.0;
  double deviation = 0.0;  // sample standard deviation; 0 for one run
};

std::optional<Spread> spread_of(const std::vector<double>& values) {
  if (values.empty()) return std::nullopt;
  Spread spread;
  for (const double value : values) spread.mean += value / static_cast<double>(values.size());
  if (values.size() < 2) return spread;
  double squares = 0.0;
  for (const double value : values) squares += (value - spread.mean) * (value - spread.mean);
  spread.deviation = std::sqrt(squares / static_cast<double>(values.size() - 1));
  return spread;
}

struct Bar {
  std::optional<Spread> simulated;
  std::optional<double> recorded;
};

// One panel: a quantity of every policy.
struct Panel {
  std::string title;
  double scale = 1.0;
  std::vector<Bar> bars;  // by policy

  [[nodiscard]] bool has_bars() const {
    return std::ranges::any_of(bars, [](const Bar& bar) { return bar.simulated.has_value(); });
  }
  [[nodiscard]] double low() const {
    return extreme(-1.0, [](double a, double b) { return std::min(a, b); });
  }
  [[nodiscard]] double high() const {
    return extreme(1.0, [](double a, double b) { return std::max(a, b); });
  }

 private:
  template <class Choose>
  [[nodiscard]] double extreme(double side, const Choose& choose) const {
    std::optional<double> end;
    const auto consider = [&](double value) { end = end ? choose(*end, value) : value; };
    for (const Bar& bar : bars) {
      if (bar.simulated) consider(bar.simulated->mean + side * bar.simulated->deviation);
      if (bar.recorded) consider(*bar.recorded);
    }
    return scale * end.value_or(0.0);
  }
};

Panel accuracy_panel(const std::vector<PlottedRun>& runs, const RecordedOutcomes& recorded) {
  Panel panel{"final accuracy (%)", 100.0, {}};
  for (const PlottedRun& run : runs) {
    std::vector<double> finals;
    for (const LearningCurve& curve : run.curves) finals.push_back(curve.evaluations.back().accuracy);
    const auto known = recorded.find(run.name);
    panel.bars.push_back(
        {spread_of(finals), known == recorded.end() ? std::nullopt : known->second.final_accuracy});
  }
  return panel;
}

Panel time_panel(const std::vector<PlottedRun>& runs, const RecordedOutcomes& recorded) {
  Panel panel{fmt::format("time / time of {}", runs.front().name), 1.0, {}};
  const std::optional<Spread> first = spread_of(runs.front().work_times_s);
  for (const PlottedRun& run : runs) {
    std::optional<Spread> spread = first ? spread_of(run.work_times_s) : std::nullopt;
    if (spread) spread = Spread{spread->mean / first->mean, spread->deviation / first->mean};
    const auto known = recorded.find(run.name);
    panel.bars.push_back({spread, known == recorded.end() ? std::nullopt : known->second.relative_time});
  }
  return panel;
}

std::string cell(const std::optional<double>& value) {
  return value ? fmt::format("{:.6g}", *value) : "?";
}

std::string rows_of(const Panel& panel) {
  std::string rows = "# place_in mean deviation recorded\n";
  for (std::size_t i = 0; i < panel.bars.size(); ++i) {
    const Bar& bar = panel.bars[i];
    const auto scaled = [&](const std::optional<double>& value) {
      return value ? std::optional(panel.scale * *value) : std::nullopt;
    };
    rows += fmt::format("{:.4f} {} {} {}\n",
                        row_in * static_cast<double>(i) + name_line_in + 0.025 + bar_in / 2.0,
                        cell(scaled(bar.simulated ? std::optional(bar.simulated->mean) : std::nullopt)),
                        cell(scaled(bar.simulated ? std::optional(bar.simulated->deviation) : std::nullopt)),
                        cell(scaled(bar.recorded)));
  }
  return rows;
}

// A length starts at zero; a place on an axis that does not is a point.
enum class Mark { bar, point };

struct Axis {
  double from = 0.0;
  double to = 1.0;
  Mark mark = Mark::bar;
};

// Accuracies lie close together: an axis from zero would hide what matters.
Axis axis_around(const Panel& panel) {
  const double margin = std::max(0.08 * (panel.high() - panel.low()), 0.1);
  return {panel.low() - margin, panel.high() + margin, Mark::point};
}

Axis axis_from_zero(const Panel& panel) {
  return {0.0, std::max(1.06 * panel.high(), 1e-9), Mark::bar};
}

std::string mark_layer(const std::string& data, std::size_t policy, Mark mark) {
  const SeriesStyle style = series_style(policy);
  if (mark == Mark::point)
    return fmt::format(
        "{0} every ::{1}::{1} using 2:1 with points pointtype {2} pointsize 0.8 linecolor rgb \"{3}\"", data,
        policy, filled_circle, style.colour);
  return fmt::format(
      "{0} every ::{1}::{1} using (0):1:(0):2:($1-{2}):($1+{2}) with boxxyerror fillcolor rgb \"{3}\" "
      "fillstyle "
      "solid 0.55 noborder",
      data, policy, bar_in / 2.0, style.colour);
}

void draw_panel(Page& page, const Panel& panel, const std::string& data, double panel_left_in,
                const Axis& axis) {
  page.draw(fmt::format("set xrange [{:.6g}:{:.6g}]", axis.from, axis.to));
  page.draw(fmt::format("set xtics {:.6g}", tic_step(axis.to - axis.from, tics_max)));
  page.frame(panel_left_in, top_in, panel_in, row_in * static_cast<double>(panel.bars.size()));
  std::string layers;
  const auto add_marks = [&] {
    for (std::size_t i = 0; i < panel.bars.size(); ++i)
      layers += mark_layer(data, i, axis.mark) + ", \\\n     ";
  };
  const std::string whiskers =
      fmt::format("{0} using ($2-$3):1:(2*$3):(0) with vectors arrowstyle 1, \\\n     ", data);
  // Whiskers lie over bars and under points.
  if (axis.mark == Mark::bar) add_marks();
  layers += whiskers;
  if (axis.mark == Mark::point) add_marks();
  layers += fmt::format(
      "{0} using 4:1 with points pointtype {1} pointsize 0.7 linewidth 1.4 linecolor rgb \"#000000\"", data,
      hollow_circle);
  page.draw("plot " + layers);
}

std::string note_about(const std::vector<PlottedRun>& runs, bool any_recorded) {
  std::size_t cut_short = 0;
  for (const PlottedRun& run : runs) cut_short += run.end_times_s.size() - run.work_times_s.size();
  std::string note = "point, bar: mean; whisker: ± standard deviation over the seeds";
  if (any_recorded) note += "; circle: recorded";
  if (cut_short > 0) note += fmt::format("; times without {} that diverged or stalled", cut_short);
  if (runs.front().work_times_s.empty())
    note += fmt::format(": nothing of {} to compare with", runs.front().name);
  return note;
}

}  // namespace

RecordedOutcomes read_recorded_outcomes(const std::filesystem::path& path) {
  const CsvFile table(path, {"variant", "final_accuracy", "relative_time"});
  RecordedOutcomes recorded;
  for (const CsvRow& row : table.rows())
    recorded[row.text("variant")] = {row.number_if_given("final_accuracy"),
                                     row.number_if_given("relative_time")};
  return recorded;
}

std::optional<Figure> outcome_figure(const std::vector<PlottedRun>& runs, const RecordedOutcomes& recorded,
                                     std::string_view command) {
  const bool ends_early =
      std::ranges::any_of(runs, [](const PlottedRun& run) { return run.target_accuracy.has_value(); });
  if (runs.size() < 2 || (ends_early && recorded.empty())) return std::nullopt;
  const Panel accuracy = accuracy_panel(runs, recorded);
  const Panel time = time_panel(runs, recorded);
  if (!accuracy.has_bars() && !time.has_bars()) return std::nullopt;
  const double height_in = row_in * static_cast<double>(runs.size());
  const Footer footer(note_about(runs, !recorded.empty()), command);
  const double footer_top_in = top_in + height_in + axis_below_in;
  Page page(footer_top_in + footer.height_in());
  page.set(fmt::format("$accuracy << END_OF_DATA\n{}END_OF_DATA", rows_of(accuracy)));
  page.set(fmt::format("$time << END_OF_DATA\n{}END_OF_DATA", rows_of(time)));
  page.set("set datafile missing \"?\"");
  page.set(fmt::format("set yrange [{:.4f}:0]", height_in));
  page.set("unset ytics");
  page.set("set style arrow 1 heads size screen 0.010,90 linewidth 1.2 linecolor rgb \"#000000\"");
  const double right_in = left_in + panel_in + between_in;
  for (std::size_t i = 0; i < runs.size(); ++i)
    page.text(wrapped(runs[i].name, text_pt, page_width_in - 2.0 * left_in, 1).front(), left_in + 0.04,
              top_in + row_in * static_cast<double>(i) + name_line_in / 2.0, {});
  const double title_in = top_in + height_in + 0.24;
  if (accuracy.has_bars())
    page.text(accuracy.title, left_in + panel_in / 2.0, title_in, {.align = Align::center});
  const bool is_short = wrapped(time.title, text_pt, panel_in + 0.1, 2).size() == 1;
  if (time.has_bars())
    page.text(is_short ? time.title : "time / time of the first", right_in + panel_in / 2.0, title_in,
              {.align = Align::center});
  footer.place(page, footer_top_in);
  page.draw("set multiplot");
  page.draw("set border 1 linewidth 0.6");  // a long name reaches into the other panel
  if (accuracy.has_bars()) {
    draw_panel(page, accuracy, "$accuracy", left_in, axis_around(accuracy));
    page.draw("unset label; unset arrow; unset object");
  }
  if (time.has_bars()) draw_panel(page, time, "$time", right_in, axis_from_zero(time));
  page.draw("unset multiplot");
  return Figure{std::string(outcome_figure_name), page.script(outcome_figure_name, command)};
}

}  // namespace paceline::plots

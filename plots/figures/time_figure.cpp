#include <algorithm>
#include <set>

#include <fmt/format.h>

#include "plots/figures.hpp"
#include "plots/page/page.hpp"
#include "plots/page/text.hpp"
#include "plots/page/time_unit.hpp"

namespace paceline::plots {
namespace {

constexpr double plot_left_in = 0.10;
constexpr double plot_width_in = page_width_in - plot_left_in - 0.14;
constexpr double plot_top_in = 0.06;
constexpr double line_in = 0.135;
constexpr double bar_gap_in = 0.025;  // room for the descenders of the name above
constexpr double bar_in = 0.12;
constexpr double row_gap_in = 0.08;
constexpr double axis_below_in = 0.36;

// One policy: its name and result in words, and its bar below them. Places are inches below the plot's top.
struct Row {
  std::vector<std::string> name;
  std::string result;
  double top_in = 0.0;
  [[nodiscard]] double bar_middle_in() const {
    return top_in + line_in * static_cast<double>(name.size()) + bar_gap_in + bar_in / 2.0;
  }
  [[nodiscard]] double bottom_in() const { return bar_middle_in() + bar_in / 2.0 + row_gap_in; }
};

std::string result_text(const PlottedRun& run, const TimeUnit& unit, bool name_target) {
  std::string text;
  if (run.time_median_s) {
    text = time_text(*run.time_median_s, unit) + ", ";
  } else if (run.reached > 0) {
    text = "median not reached, ";
  }
  text += fmt::format("{}/{} reached", run.reached, run.replications);
  if (name_target) text += fmt::format(" {:.4g} %", 100.0 * *run.target_accuracy);
  return text;
}

// The right end of the axis: past every known time, and where it matters past the horizon too.
double axis_end_s(const std::vector<PlottedRun>& runs) {
  double end_s = 0.0;
  for (const PlottedRun& run : runs) {
    end_s = std::max({end_s, run.time_median_s.value_or(0.0), run.time_high_s.value_or(0.0)});
    if (!run.time_median_s || !run.time_high_s) end_s = std::max(end_s, run.horizon_s);
  }
  return end_s > 0.0 ? 1.03 * end_s : 1.0;
}

std::string cell(const std::optional<double>& value) {
  return value ? fmt::format("{}", *value) : "?";
}

std::vector<Row> lay_out(const std::vector<PlottedRun>& runs, const TimeUnit& unit, bool name_targets) {
  std::vector<Row> rows;
  double top_in = 0.0;
  for (const PlottedRun& run : runs) {
    Row row;
    row.result = result_text(run, unit, name_targets);
    const double name_in = plot_width_in - text_width_in(row.result, tick_pt) - 0.15;
    row.name = wrapped(run.name, text_pt, name_in, 3);
    row.top_in = top_in;
    top_in = row.bottom_in();
    rows.push_back(std::move(row));
  }
  return rows;
}

// Bars, whiskers and arrows of one policy. An interval that ends beyond the horizon is an open arrow.
void draw_bar(std::vector<std::string>& layers, const PlottedRun& run, std::size_t index,
              const TimeUnit& unit) {
  const std::string data = fmt::format("$times every ::{0}::{0} using", index);
  const double scale = unit.seconds;
  const char* colour = series_style(index).colour;
  const double half_in = bar_in / 2.0;
  if (run.time_median_s)
    layers.push_back(
        fmt::format("{} (0):1:(0):($2/{}):($1-{}):($1+{}) with boxxyerror fillcolor rgb \"{}\" fillstyle "
                    "solid 0.55 noborder",
                    data, scale, half_in, half_in, colour));
  if (run.time_low_s && run.time_high_s) {
    layers.push_back(
        fmt::format("{} ($3/{}):1:(($4-$3)/{}):(0) with vectors arrowstyle 1", data, scale, scale));
    return;
  }
  if (run.time_low_s) {
    layers.push_back(
        fmt::format("{} ($3/{}):1:(axis_end-$3/{}):(0) with vectors arrowstyle 2", data, scale, scale));
    layers.push_back(fmt::format("{} ($3/{}):($1-0.04):(0):(0.08) with vectors arrowstyle 4", data, scale));
  } else {
    layers.push_back(fmt::format("{} (0):1:(0.95*axis_end):(0) with vectors arrowstyle 3", data));
    layers.push_back(fmt::format("{} (0.95*axis_end):1:(0.05*axis_end):(0) with vectors arrowstyle 2", data));
  }
}

void draw_rows(Page& page, const std::vector<PlottedRun>& runs, const std::vector<Row>& rows,
               const TimeUnit& unit) {
  std::vector<std::string> layers;
  for (std::size_t i = 0; i < runs.size(); ++i) {
    draw_bar(layers, runs[i], i, unit);
    double y_in = plot_top_in + rows[i].top_in + line_in / 2.0;
    page.text(rows[i].result, plot_left_in + plot_width_in, y_in,
              {.size_pt = tick_pt, .align = Align::right, .colour = note_colour});
    for (const std::string& line : rows[i].name) {
      page.text(line, plot_left_in + 0.04, y_in, {});
      y_in += line_in;
    }
  }
  for (std::size_t i = 0; i < layers.size(); ++i)
    page.draw(
        fmt::format("{}{}{}", i == 0 ? "plot " : "     ", layers[i], i + 1 == layers.size() ? "" : ", \\"));
}

std::string note_about(const std::vector<PlottedRun>& runs) {
  std::string note = "bar: median; whisker: 90 % prediction interval";
  const bool beyond =
      std::ranges::any_of(runs, [](const PlottedRun& run) { return !run.time_high_s.has_value(); });
  if (beyond) note += "; open arrow: beyond the simulated time";
  return note;
}

}  // namespace

std::optional<Figure> time_to_accuracy_figure(const std::vector<PlottedRun>& all, std::string_view command) {
  std::vector<PlottedRun> runs;
  std::set<double> targets;
  for (const PlottedRun& run : all) {
    if (!run.target_accuracy) continue;
    runs.push_back(run);
    targets.insert(*run.target_accuracy);
  }
  if (runs.empty()) return std::nullopt;

  const double end_s = axis_end_s(runs);
  const TimeUnit unit = time_unit_for(end_s);
  const std::vector<Row> rows = lay_out(runs, unit, targets.size() > 1);
  const double plot_height_in = rows.back().bottom_in();
  const Footer footer(note_about(runs), command);
  const double footer_top_in = plot_top_in + plot_height_in + axis_below_in;

  Page page(footer_top_in + footer.height_in());
  std::string data = "# place_in median_s low_s high_s\n";
  for (std::size_t i = 0; i < runs.size(); ++i)
    data += fmt::format("{:.4f} {} {} {}\n", rows[i].bar_middle_in(), cell(runs[i].time_median_s),
                        cell(runs[i].time_low_s), cell(runs[i].time_high_s));
  page.set(fmt::format("$times << END_OF_DATA\n{}END_OF_DATA", data));
  page.set("set datafile missing \"?\"");
  page.set(fmt::format("axis_end = {}", end_s / unit.seconds));
  page.set("set xrange [0:axis_end]");
  page.set(fmt::format("set yrange [{:.4f}:0]", plot_height_in));
  page.set("unset ytics");
  page.set("set style arrow 1 heads size screen 0.012,90 linewidth 1.4 linecolor rgb \"#000000\"");
  page.set("set style arrow 2 head empty size screen 0.025,22 linewidth 1.4 linecolor rgb \"#000000\"");
  page.set("set style arrow 3 nohead linewidth 1.4 linecolor rgb \"#000000\" dashtype (6,4)");
  page.set("set style arrow 4 nohead linewidth 1.4 linecolor rgb \"#000000\"");
  page.frame(plot_left_in, plot_top_in, plot_width_in, plot_height_in);
  const std::string goal = targets.size() == 1 ? fmt::format("{:.4g} %", 100.0 * *targets.begin()) : "target";
  page.text(fmt::format("time to {} accuracy ({})", goal, unit.symbol), plot_left_in + plot_width_in / 2.0,
            plot_top_in + plot_height_in + 0.24, {.align = Align::center});
  footer.place(page, footer_top_in);
  draw_rows(page, runs, rows, unit);
  return Figure{std::string(time_figure_name), page.script(time_figure_name, command)};
}

}  // namespace paceline::plots

#include <algorithm>

#include <fmt/format.h>

#include "plots/data/density.hpp"
#include "plots/figures.hpp"
#include "plots/page/page.hpp"
#include "plots/page/text.hpp"
#include "plots/page/time_unit.hpp"
#include "sim/base/order_statistics.hpp"

namespace paceline::plots {
namespace {

constexpr double plot_left_in = 0.10;
constexpr double plot_width_in = page_width_in - plot_left_in - 0.14;
constexpr double plot_top_in = 0.06;
constexpr double line_in = 0.135;
constexpr double violin_in = 0.30;
constexpr double row_gap_in = 0.06;
constexpr double axis_below_in = 0.36;
constexpr double bandwidth_share = 0.01;  // of the axis

// One run: its name and median in words, and its violin below. Places are inches below the plot's top.
struct Violin {
  std::vector<std::string> name;
  std::string median;
  std::vector<double> times_s;
  double top_in = 0.0;
  [[nodiscard]] double middle_in() const {
    return top_in + line_in * static_cast<double>(name.size()) + violin_in / 2.0;
  }
  [[nodiscard]] double bottom_in() const { return middle_in() + violin_in / 2.0 + row_gap_in; }
};

std::vector<Violin> violins_of(const std::vector<PlottedRun>& runs) {
  std::vector<Violin> violins;
  for (const PlottedRun& run : runs) {
    Violin violin;
    violin.name = {run.name};
    for (const IterationTime& iteration : run.iterations) violin.times_s.push_back(iteration.compute_s);
    if (!violin.times_s.empty()) violins.push_back(std::move(violin));
  }
  return violins;
}

double longest_s(const std::vector<Violin>& violins) {
  double longest = 0.0;
  for (const Violin& violin : violins) longest = std::max(longest, *std::ranges::max_element(violin.times_s));
  return longest;
}

void lay_out(std::vector<Violin>& violins, const TimeUnit& unit) {
  double top_in = 0.0;
  for (Violin& violin : violins) {
    violin.median = "median " + time_text(quantile(violin.times_s, 0.5), unit);
    const double name_in = plot_width_in - text_width_in(violin.median, tick_pt) - 0.15;
    violin.name = wrapped(violin.name.front(), text_pt, name_in, 2);
    violin.top_in = top_in;
    top_in = violin.bottom_in();
  }
}

void draw_violin(Page& page, const Violin& violin, std::size_t index, double axis_s, const TimeUnit& unit) {
  const std::vector<DensityPoint> points = density_of(violin.times_s, bandwidth_share * axis_s);
  const double highest = std::ranges::max_element(points, {}, &DensityPoint::density)->density;
  std::string rows;
  for (const DensityPoint& point : points) {
    const double half_in = 0.5 * violin_in * point.density / highest;
    rows += fmt::format("{:.6g} {:.5f} {:.5f}\n", point.at / unit.seconds, violin.middle_in() - half_in,
                        violin.middle_in() + half_in);
  }
  page.set(fmt::format("$violin_{} << END_OF_DATA\n{}END_OF_DATA", index, rows));
  page.set(fmt::format("$quartiles_{} << END_OF_DATA\n{} {} {} {:.5f}\nEND_OF_DATA", index,
                       quantile(violin.times_s, 0.25) / unit.seconds,
                       quantile(violin.times_s, 0.5) / unit.seconds,
                       quantile(violin.times_s, 0.75) / unit.seconds, violin.middle_in()));
}

}  // namespace

std::optional<Figure> compute_time_figure(const std::vector<PlottedRun>& runs, std::string_view command) {
  std::vector<Violin> violins = violins_of(runs);
  if (violins.empty()) return std::nullopt;
  const double axis_s = 1.03 * longest_s(violins);
  const TimeUnit unit = time_unit_for(axis_s);
  lay_out(violins, unit);
  const double plot_height_in = violins.back().bottom_in();
  const Footer footer(
      "computing an iteration, all workers of one run (replication 0); width: density (kernel of 1 % of the "
      "axis), largest the same for all; dot: median, line: middle half",
      command);
  const double footer_top_in = plot_top_in + plot_height_in + axis_below_in;

  Page page(footer_top_in + footer.height_in());
  page.set(fmt::format("set xrange [0:{}]", axis_s / unit.seconds));
  page.set(fmt::format("set yrange [{:.4f}:0]", plot_height_in));
  page.set("unset ytics");
  std::string plot;
  for (std::size_t i = 0; i < violins.size(); ++i) {
    const Violin& violin = violins[i];
    draw_violin(page, violin, i, axis_s, unit);
    double y_in = plot_top_in + violin.top_in + line_in / 2.0;
    page.text(violin.median, plot_left_in + plot_width_in, y_in,
              {.size_pt = tick_pt, .align = Align::right, .colour = note_colour});
    for (const std::string& line : violin.name) {
      page.text(line, plot_left_in + 0.04, y_in, {});
      y_in += line_in;
    }
    plot += fmt::format(
        "{0}$violin_{1} using 1:2:3 with filledcurves fillcolor rgb \"{2}\" fillstyle solid 0.55 noborder, "
        "$quartiles_{1} using 1:4:($3-$1):(0) with vectors nohead linewidth 1.4 linecolor rgb \"#000000\", "
        "$quartiles_{1} using 2:4 with points pointtype 7 pointsize 0.35 linecolor rgb \"#000000\"",
        i == 0 ? "plot " : ", ", i, series_style(i).colour);
  }
  page.frame(plot_left_in, plot_top_in, plot_width_in, plot_height_in);
  page.text(fmt::format("computation of an iteration ({})", unit.symbol), plot_left_in + plot_width_in / 2.0,
            plot_top_in + plot_height_in + 0.24, {.align = Align::center});
  footer.place(page, footer_top_in);
  page.draw(plot);
  return Figure{std::string(compute_time_figure_name), page.script(compute_time_figure_name, command)};
}

}  // namespace paceline::plots

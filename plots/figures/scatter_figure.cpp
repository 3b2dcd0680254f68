#include "plots/figures/scatter_figure.hpp"

#include <algorithm>
#include <limits>

#include <fmt/format.h>

#include "plots/page/gnuplot.hpp"
#include "plots/page/page.hpp"
#include "plots/page/text.hpp"
#include "sim/base/atomic_file.hpp"

namespace paceline::plots {
namespace {

constexpr double left_in = 0.52;
constexpr double top_in = 0.14;
constexpr double height_in = 2.3;
constexpr double below_in = 0.40;
constexpr double margin_share = 0.03;  // beyond the outermost points
constexpr double least_margin = 0.01;  // around a single one

std::string data_of(const ScatterFigure& figure) {
  std::string data;
  for (std::size_t i = 0; i < figure.series.size(); ++i) {
    data += fmt::format("$points_{} << EOD\n", i + 1);
    for (const ScatterPoint& point : figure.series[i].points) {
      const ScatterBar bar = point.bar.value_or(ScatterBar{point.y, point.y});
      data += fmt::format("{:.9g} {:.9g} {:.9g} {:.9g}\n", point.x, point.y, bar.low, bar.high);
    }
    data += "EOD\n";
  }
  return data;
}

void draw_points(Page& page, const ScatterFigure& figure) {
  double low = std::numeric_limits<double>::infinity();
  double high = -low;
  for (const ScatterSeries& series : figure.series) {
    for (const ScatterPoint& point : series.points) {
      low = std::min(low, point.x);
      high = std::max(high, point.x);
    }
  }
  const double margin = high > low ? margin_share * (high - low) : least_margin;
  low -= margin;
  high += margin;
  std::string layers = fmt::format("plot [{}:{}] {} with lines linewidth 0.8 linecolor rgb \"{}\"", low, high,
                                   figure.diagonal ? "x" : "0", note_colour);
  for (std::size_t i = 0; i < figure.series.size(); ++i) {
    const SeriesStyle style = series_style(i);
    layers += fmt::format(
        ", $points_{0} using 1:2:3:4 with yerrorbars linewidth 0.8 pointtype {1} pointsize 0.4 linecolor rgb "
        "\"{2}\"",
        i + 1, style.marker, style.colour);
  }
  page.draw(layers);
}

}  // namespace

void draw_scatter(const ScatterFigure& figure, const std::filesystem::path& folder,
                  const std::string& command) {
  std::vector<std::string> names;
  for (const ScatterSeries& series : figure.series) names.push_back(series.name);
  const Legend legend(names, Legend::Sample::marker);
  const Footer footer(figure.note, command);
  const double legend_top_in = top_in + height_in + below_in;
  Page page(legend_top_in + legend.height_in() + footer.height_in() + page_margin_in);
  const double width_in = page_width_in - left_in - 0.12;
  page.set(data_of(figure));
  page.set("set errorbars 0");
  page.frame(left_in, top_in, width_in, height_in);
  page.text(figure.y_label, 0.10, top_in + height_in / 2.0, {.align = Align::center, .upright = true});
  page.text(figure.x_label, left_in + width_in / 2.0, top_in + height_in + 0.26, {.align = Align::center});
  legend.place(page, legend_top_in);
  footer.place(page, legend_top_in + legend.height_in());
  draw_points(page, figure);  // last: gnuplot shows only the labels set before
  write_file_atomically(folder / (figure.name + ".gp"), page.script(figure.name, command));
  run_gnuplot(folder, figure.name + ".gp");
}

}  // namespace paceline::plots

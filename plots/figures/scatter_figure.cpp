#include "plots/figures/scatter_figure.hpp"

#include <algorithm>
#include <limits>

#include <fmt/format.h>

#include "plots/page/figure_script.hpp"

namespace paceline::plots {
namespace {

constexpr double margin_share = 0.03;  // beyond the outermost points
constexpr double least_margin = 0.01;  // around a single one

Axis x_axis(const ScatterFigure& figure) {
  double low = std::numeric_limits<double>::infinity();
  double high = -low;
  for (const ScatterSeries& series : figure.series) {
    for (const ScatterPoint& point : series.points) {
      low = std::min(low, point.x);
      high = std::max(high, point.x);
    }
  }
  const double margin = high > low ? margin_share * (high - low) : least_margin;
  return {.title = figure.x_label, .from = low - margin, .to = high + margin};
}

}  // namespace

void draw_scatter(const ScatterFigure& figure, const std::filesystem::path& folder,
                  const std::string& command) {
  Figure drawn{.name = figure.name, .sample = Sample::marker, .note = figure.note};
  Panel panel{.height_in = 2.3, .x = x_axis(figure), .y = {.title = figure.y_label}};
  if (figure.diagonal) {
    const Table diagonal{"diagonal", {"x", "y"}, {{panel.x.from, panel.x.from}, {panel.x.to, panel.x.to}}};
    panel.layers.push_back({Shape::line, diagonal, diagonal.columns, {.colour = note_colour}});
    panel.layers.back().line_width = 0.8;
  } else {
    panel.rules = {0.0};
  }
  for (const ScatterSeries& series : figure.series) {
    const Ink ink = series_ink(drawn.legend.size());
    drawn.legend.push_back({series.name, ink});
    Table table{fmt::format("points_{}", drawn.legend.size()), {"x", "y", "low", "high"}};
    for (const ScatterPoint& point : series.points) {
      const ScatterBar bar = point.bar.value_or(ScatterBar{point.y, point.y});
      table.rows.push_back({point.x, point.y, bar.low, bar.high});
    }
    panel.layers.push_back({Shape::upright, table, {"x", "low", "high"}, {.colour = ink.colour}});
    panel.layers.push_back({Shape::points, table, {"x", "y"}, ink});
  }
  drawn.panels = {panel};
  draw_figure(drawn, folder, command);
}

}  // namespace paceline::plots

#include <fmt/format.h>

#include "plots/figures/figures.hpp"

namespace paceline::plots {
namespace {

constexpr double margin_share = 0.03;  // beyond the outermost points
constexpr double least_margin = 0.01;  // around a single one

}  // namespace

Figure scatter_figure(const Scatter& scatter) {
  Extent x;
  for (const ScatterSeries& series : scatter.series)
    for (const ScatterPoint& point : series.points) x.include(point.x);
  Panel panel{.height_in = 2.3,
              .x = x.axis(scatter.x_title, x.length() > 0.0 ? margin_share * x.length() : least_margin),
              .y = {.title = scatter.y_title}};
  if (scatter.is_diagonal) {
    const Table diagonal{"diagonal", {"x", "y"}, {{panel.x.from, panel.x.from}, {panel.x.to, panel.x.to}}};
    panel.layers.push_back({Shape::line, diagonal, diagonal.columns, {.colour = note_colour}});
    panel.layers.back().line_width = 0.8;
  } else {
    panel.rules = {0.0};
  }
  Figure figure{.name = scatter.name, .sample = Sample::marker, .note = scatter.note};
  for (const ScatterSeries& series : scatter.series) {
    const Ink ink = series_ink(figure.legend.size());
    figure.legend.push_back({series.name, ink});
    Table table{fmt::format("points_{}", figure.legend.size()), {"x", "y", "low", "high"}};
    for (const auto& [at, y, low, high] : series.points)
      table.rows.push_back({at, y, low.value_or(y), high.value_or(y)});
    panel.layers.push_back({Shape::upright, table, {"x", "low", "high"}, {.colour = ink.colour}});
    panel.layers.push_back({Shape::points, table, {"x", "y"}, ink});
  }
  figure.panels = {panel};
  return figure;
}

}  // namespace paceline::plots

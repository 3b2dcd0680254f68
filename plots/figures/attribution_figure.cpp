#include <fmt/format.h>

#include "plots/figures/activities.hpp"
#include "plots/figures/figures.hpp"

namespace paceline::plots {

std::optional<Figure> attribution_figure(const ShownRuns& shown) {
  const auto runs = shown.those_with([](const PlottedRun& run) { return !run.attribution_percent.empty(); });
  if (runs.empty()) return std::nullopt;
  std::vector<NamedRow> rows;
  for (const PlottedRun& run : runs) rows.push_back({run.name});
  auto [panel, middles] = stacked_rows(rows, named_bar_in, 2, shown.page);
  panel.x = {.title = "share of the workers' time (%)", .from = 0.0, .to = 100.0, .step = 20.0};
  Figure figure{.sample = Sample::box, .note = "mean over the workers and the seeds"};
  std::vector<double> drawn(runs.size(), 0.0);  // so far, in per cent
  for (const ActivityColour& activity : activity_colours) {
    Table table{fmt::format("share_{}", activity.activity), {"from", "to", "place"}};
    bool is_seen = false;
    for (std::size_t i = 0; i < runs.size(); ++i) {
      const auto share = runs[i].attribution_percent.find(activity.activity);
      if (share == runs[i].attribution_percent.end() || share->second <= 0.0) continue;
      table.rows.push_back({drawn[i], drawn[i] + share->second, middles[i]});
      drawn[i] += share->second;
      is_seen = is_seen || share->second >= 0.1;  // less is not seen
    }
    if (table.rows.empty()) continue;
    const Ink ink{.colour = activity.colour};
    panel.layers.push_back({Shape::bars, table, table.columns, ink});
    panel.layers.back().thickness = named_bar_in;
    panel.layers.back().opacity = 1.0;
    if (is_seen) figure.legend.push_back({activity.name, ink});
  }
  figure.panels = {panel};
  return figure;
}

}  // namespace paceline::plots

#include <numeric>

#include <fmt/format.h>

#include "plots/figures/figures.hpp"

namespace paceline::plots {
namespace {

constexpr std::size_t bars_max = 60;
constexpr int staleness_tics_max = 8;
constexpr int share_tics_max = 3;

}  // namespace

std::optional<Figure> staleness_figure(const ShownRuns& shown) {
  const auto runs = shown.those_with([](const PlottedRun& run) { return run.staleness.size() > 1; });
  if (runs.empty()) return std::nullopt;
  std::size_t longest = 0;
  for (const PlottedRun& run : runs) longest = std::max(longest, run.staleness.size());
  const std::size_t bin = (longest + bars_max - 1) / bars_max;
  Figure figure{.columns = runs.size() > 3 ? 2U : 1U,
                .note =
                    "share of the gradients applied, by the updates since their parameters were pulled "
                    "(replication 0)"};
  if (bin > 1) figure.note += fmt::format("; bars of {} updates", bin);
  double highest = 0.0;
  for (const PlottedRun& run : runs) {
    const double all = std::accumulate(run.staleness.begin(), run.staleness.end(), 0.0);
    Table table{fmt::format("staleness_{}", figure.panels.size() + 1), {"staleness", "share"}};
    for (std::size_t s = 0; s < run.staleness.size(); ++s) {
      if (s % bin == 0)
        table.rows.push_back({static_cast<double>(s) + static_cast<double>(bin - 1) / 2.0, 0.0});
      double& share =
          table.rows.back()[1].emplace(table.rows.back()[1].value() + 100.0 * run.staleness[s] / all);
      highest = std::max(highest, share);
    }
    Layer bars{Shape::columns, table, table.columns, series_ink(run.series)};
    bars.thickness = 0.8 * static_cast<double>(bin);
    figure.panels.push_back(
        {.title = run.name,
         .height_in = runs.size() == 1 ? 1.4 : 0.62,
         .x = {.title = "staleness (updates)",
               .from = -0.7,
               .to = static_cast<double>(longest) - 0.3,
               .step = std::max(1.0, tic_step(static_cast<double>(longest), staleness_tics_max))},
         .y = {.title = "gradients (%)", .from = 0.0},
         .layers = {bars}});
  }
  for (Panel& panel : figure.panels) {
    panel.y.to = 1.1 * highest;
    panel.y.step = tic_step(1.1 * highest, share_tics_max);
  }
  return figure;
}

}  // namespace paceline::plots

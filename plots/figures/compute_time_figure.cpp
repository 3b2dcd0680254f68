#include <algorithm>

#include <fmt/format.h>

#include "plots/data/density.hpp"
#include "plots/figures/figures.hpp"
#include "plots/page/rows.hpp"
#include "sim/base/order_statistics.hpp"

namespace paceline::plots {
namespace {

constexpr double violin_in = 0.30;
constexpr double bandwidth_share = 0.01;  // of the axis

struct ComputeTimes {
  std::string name;
  std::vector<double> seconds;
};

std::vector<ComputeTimes> compute_times(const std::vector<PlottedRun>& runs) {
  std::vector<ComputeTimes> all;
  for (const PlottedRun& run : runs) {
    if (run.iterations.empty()) continue;
    all.push_back({run.name, {}});
    for (const IterationTime& iteration : run.iterations) all.back().seconds.push_back(iteration.compute_s);
  }
  return all;
}

Table violin_table(const std::string& name, const std::vector<double>& seconds, double middle, double axis_s,
                   const TimeUnit& unit) {
  Table table{name, {"time", "low", "high"}};
  const std::vector<DensityPoint> points = density_of(seconds, bandwidth_share * axis_s);
  const double highest = std::ranges::max_element(points, {}, &DensityPoint::density)->density;
  for (const DensityPoint& point : points) {
    const double half = 0.5 * violin_in * point.density / highest;
    table.rows.push_back({point.at / unit.seconds, middle - half, middle + half});
  }
  return table;
}

}  // namespace

std::optional<Figure> compute_time_figure(const ShownRuns& shown) {
  const std::vector<ComputeTimes> all = compute_times(shown.runs);
  if (all.empty()) return std::nullopt;
  double longest_s = 0.0;
  for (const ComputeTimes& times : all) longest_s = std::max(longest_s, std::ranges::max(times.seconds));
  const double axis_s = 1.03 * longest_s;
  const TimeUnit unit = time_unit_for(axis_s);
  std::vector<NamedRow> rows;
  for (const ComputeTimes& times : all)
    rows.push_back({times.name, "median " + time_text(median(times.seconds), unit)});
  StackedRows stacked = stacked_rows(rows, violin_in, 2, shown.page);

  Panel& panel = stacked.panel;
  panel.x = time_axis("computation of an iteration", axis_s, unit);
  Table quartiles{"quartiles", {"first", "median", "third", "place"}};
  for (std::size_t i = 0; i < all.size(); ++i) {
    const auto at = [&](double p) { return quantile(all[i].seconds, p) / unit.seconds; };
    quartiles.rows.push_back({at(0.25), at(0.5), at(0.75), stacked.middles[i]});
    const Table violin =
        violin_table(fmt::format("violin_{}", i + 1), all[i].seconds, stacked.middles[i], axis_s, unit);
    panel.layers.push_back({Shape::band, violin, violin.columns, series_ink(i)});
    panel.layers.back().opacity = 0.55;
  }
  panel.layers.push_back({Shape::segment, quartiles, {"first", "third", "place"}});
  panel.layers.push_back({Shape::points, quartiles, {"median", "place"}});
  return Figure{
      .panels = {panel},
      .note =
          "computing an iteration, all workers of one run (replication 0); width: density (kernel of "
          "1 % of the axis), largest the same for all; dot: median, line: middle half"};
}

}  // namespace paceline::plots

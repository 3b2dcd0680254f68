#include <fmt/format.h>

#include "plots/data/samples.hpp"
#include "plots/figures/figures.hpp"
#include "sim/base/order_statistics.hpp"

namespace paceline::plots {
namespace {

constexpr double violin_in = 0.30;
constexpr double bandwidth_share = 0.01;  // of the axis

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
  const auto runs = shown.those_with([](const PlottedRun& run) { return !run.compute_times_s.empty(); });
  if (runs.empty()) return std::nullopt;
  double longest_s = 0.0;
  for (const PlottedRun& run : runs) longest_s = std::max(longest_s, std::ranges::max(run.compute_times_s));
  const double axis_s = 1.03 * longest_s;
  const TimeUnit unit = time_unit_for(axis_s);
  std::vector<NamedRow> rows;
  for (const PlottedRun& run : runs)
    rows.push_back({run.name, "median " + time_text(median(run.compute_times_s), unit)});
  auto [panel, middles] = stacked_rows(rows, violin_in, 2, shown.page);
  panel.x = time_axis("computation of an iteration", axis_s, unit);
  Table quartiles{"quartiles", {"first", "median", "third", "place"}};
  for (std::size_t i = 0; i < runs.size(); ++i) {
    const std::vector<double>& seconds = runs[i].compute_times_s;
    const auto at = [&](double p) { return quantile(seconds, p) / unit.seconds; };
    quartiles.rows.push_back({at(0.25), at(0.5), at(0.75), middles[i]});
    const Table violin = violin_table(fmt::format("violin_{}", i + 1), seconds, middles[i], axis_s, unit);
    panel.layers.push_back({Shape::band, violin, violin.columns, series_ink(runs[i].series)});
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

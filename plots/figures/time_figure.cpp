#include <set>

#include <fmt/format.h>

#include "plots/figures/figures.hpp"

namespace paceline::plots {
namespace {

std::string result_text(const PlottedRun& run, const TimeUnit& unit, bool names_target) {
  std::string text;
  if (is_divergent(run)) text = fmt::format("diverged {}/{}, ", run.diverged, run.replications);
  if (run.time_median_s) {
    text = time_text(*run.time_median_s, unit) + ", ";
  } else if (run.reached > 0) {
    text = "median not reached, ";
  }
  text += fmt::format("{}/{} reached", run.reached, run.replications);
  if (names_target) text += fmt::format(" {:.4g} %", 100.0 * *run.target_accuracy);
  return text;
}

// The right end of the axis: past every known time, and where it matters past the horizon too.
double axis_end_s(const std::vector<PlottedRun>& runs) {
  double end_s = 0.0;
  for (const PlottedRun& run : runs) {
    end_s = std::max({end_s, run.time_median_s.value_or(0.0), run.time_high_s.value_or(0.0)});
    if (!run.time_median_s || (!run.time_high_s && run.reached < run.replications))
      end_s = std::max(end_s, run.horizon_s);
  }
  return end_s > 0.0 ? 1.03 * end_s : 1.0;
}

// The bar of the median and the interval over it; an interval that ends beyond the horizon is an open arrow,
// and a time of which nothing is known a dashed one across the panel.
std::vector<Layer> layers_of(const PlottedRun& run, const Table& times, std::size_t index) {
  std::vector<Layer> layers;
  const auto add = [&](Shape shape, const char* from, const char* to) -> Layer& {
    return layers.emplace_back(Layer{shape, times, {from, to, "place"}, {}, index});
  };
  if (run.time_median_s) {
    Layer& bar = add(Shape::bars, "zero", "median");
    bar.ink = series_ink(run.series);
    bar.thickness = named_bar_in;
  }
  if (run.time_low_s && run.time_high_s) {
    add(Shape::whisker, "low", "high");
  } else if (run.time_low_s) {
    add(Shape::cap, "low", "end");
    add(Shape::arrow, "low", "end");
  } else if (run.time_median_s && run.reached == run.replications) {
    // Of fewer than five runs no interval is known.
  } else if (is_divergent(run)) {
    add(Shape::marks, "end", "place").ink = {.colour = series_ink(run.series).colour, .marker = cross_marker};
    layers.back().columns = {"near_end", "place"};
  } else {
    add(Shape::segment, "zero", "near_end").ink.dash = "(6,4)";
    add(Shape::arrow, "near_end", "end");
  }
  return layers;
}

std::string note_on_times(const std::vector<PlottedRun>& runs) {
  const bool any_beyond = std::ranges::any_of(
      runs, [](const PlottedRun& run) { return !run.time_high_s && run.reached < run.replications; });
  const bool any_interval =
      std::ranges::any_of(runs, [](const PlottedRun& run) { return run.time_low_s.has_value(); });
  return fmt::format("bar: median{}{}{}", any_interval ? "; whisker: 90 % prediction interval" : "",
                     any_beyond ? "; open arrow: beyond the simulated time" : "",
                     std::ranges::any_of(runs, is_divergent) ? "; cross: most runs diverged" : "");
}

}  // namespace

std::optional<Figure> time_to_accuracy_figure(const ShownRuns& shown) {
  const auto runs = shown.those_with([](const PlottedRun& run) { return run.target_accuracy.has_value(); });
  if (runs.empty()) return std::nullopt;
  std::set<double> targets;
  for (const PlottedRun& run : runs) targets.insert(*run.target_accuracy);
  const double end_s = axis_end_s(runs);
  const TimeUnit unit = time_unit_for(end_s);
  std::vector<NamedRow> rows;
  for (const PlottedRun& run : runs) rows.push_back({run.name, result_text(run, unit, targets.size() > 1)});
  auto [panel, middles] = stacked_rows(rows, named_bar_in, 3, shown.page);
  const std::string goal = targets.size() == 1 ? fmt::format("{:.4g} %", 100.0 * *targets.begin()) : "target";
  panel.x = time_axis(fmt::format("time to {} accuracy", goal), end_s, unit);
  Table times{"times", {"place", "zero", "median", "low", "high", "near_end", "end"}};
  const double end = end_s / unit.seconds;
  const auto scaled = [&](const std::optional<double>& time_s) {
    return time_s ? std::optional(*time_s / unit.seconds) : std::nullopt;
  };
  for (std::size_t i = 0; i < runs.size(); ++i)
    times.rows.push_back({middles[i], 0.0, scaled(runs[i].time_median_s), scaled(runs[i].time_low_s),
                          scaled(runs[i].time_high_s), 0.95 * end, end});
  for (std::size_t i = 0; i < runs.size(); ++i)
    std::ranges::move(layers_of(runs[i], times, i), std::back_inserter(panel.layers));
  return Figure{.panels = {panel}, .note = note_on_times(runs)};
}

}  // namespace paceline::plots

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

// In the order met; a single one where there is nothing to tell apart.
std::vector<std::string> cases_of(const std::vector<PlottedRun>& runs) {
  std::vector<std::string> cases;
  for (const PlottedRun& run : runs)
    if (std::ranges::count(cases, run.at) == 0) cases.push_back(run.at);
  if (std::ranges::count(cases, "") > 0) cases = {""};
  return cases;
}

}  // namespace

std::optional<Figure> time_to_accuracy_figure(const ShownRuns& shown) {
  const auto runs = shown.those_with([](const PlottedRun& run) { return run.target_accuracy.has_value(); });
  if (runs.empty()) return std::nullopt;
  std::set<double> targets;
  for (const PlottedRun& run : runs) targets.insert(*run.target_accuracy);
  const double end_s = axis_end_s(runs);
  const TimeUnit unit = time_unit_for(end_s);
  const double end = end_s / unit.seconds;
  const auto scaled = [&](const std::optional<double>& time_s) {
    return time_s ? std::optional(*time_s / unit.seconds) : std::nullopt;
  };
  const std::string goal = targets.size() == 1 ? fmt::format("{:.4g} %", 100.0 * *targets.begin()) : "target";
  Figure figure{.note = note_on_times(runs)};
  const std::vector<std::string> cases = cases_of(runs);
  for (const std::string& at : cases) {
    const bool is_one_of_several = cases.size() > 1;
    std::vector<PlottedRun> here;
    std::vector<NamedRow> rows;
    for (const PlottedRun& run : runs) {
      if (is_one_of_several && run.at != at) continue;
      here.push_back(run);
      rows.push_back({is_one_of_several ? run.choice : run.name, result_text(run, unit, targets.size() > 1)});
    }
    auto [panel, middles] = stacked_rows(rows, named_bar_in, 3, shown.page);
    if (is_one_of_several) panel.title = at;
    panel.x = time_axis(fmt::format("time to {} accuracy", goal), end_s, unit);
    Table times{is_one_of_several ? fmt::format("times_{}", figure.panels.size() + 1) : "times",
                {"place", "zero", "median", "low", "high", "near_end", "end"}};
    for (std::size_t i = 0; i < here.size(); ++i)
      times.rows.push_back({middles[i], 0.0, scaled(here[i].time_median_s), scaled(here[i].time_low_s),
                            scaled(here[i].time_high_s), 0.95 * end, end});
    for (std::size_t i = 0; i < here.size(); ++i)
      std::ranges::move(layers_of(here[i], times, i), std::back_inserter(panel.layers));
    figure.panels.push_back(std::move(panel));
  }
  return figure;
}

}  // namespace paceline::plots

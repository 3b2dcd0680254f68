#include <algorithm>
#include <limits>

#include <fmt/format.h>

#include "plots/figures/figures.hpp"
#include "plots/page/rows.hpp"
#include "plots/page/text.hpp"
#include "sim/base/csv.hpp"
#include "sim/base/order_statistics.hpp"

namespace paceline::plots {
namespace {

constexpr double bar_in = 0.12;
constexpr int tics_max = 6;  // more labels touch each other

// Of the whisker.
double low_end(const Spread& spread) {
  return spread.mean - spread.deviation;
}
double high_end(const Spread& spread) {
  return spread.mean + spread.deviation;
}

std::optional<Spread> spread_if_any(const std::vector<double>& values) {
  return values.empty() ? std::nullopt : std::optional(spread_of(values));
}

struct Bar {
  std::optional<Spread> simulated;
  std::optional<double> recorded;
};

// A quantity of every policy, in the unit of its axis.
struct Quantity {
  std::string name;  // of its table
  std::string title;
  std::vector<Bar> bars = {};

  [[nodiscard]] bool is_known() const {
    return std::ranges::any_of(bars, [](const Bar& bar) { return bar.simulated.has_value(); });
  }
  // The ends of all whiskers and the recorded values.
  [[nodiscard]] std::vector<double> values() const {
    std::vector<double> all;
    for (const Bar& bar : bars) {
      if (bar.simulated) all.insert(all.end(), {low_end(*bar.simulated), high_end(*bar.simulated)});
      if (bar.recorded) all.push_back(*bar.recorded);
    }
    return all;
  }
};

RecordedOutcome recorded_of(const PlottedRun& run, const RecordedOutcomes& recorded) {
  const auto known = recorded.find(run.name);
  return known == recorded.end() ? RecordedOutcome{} : known->second;
}

Quantity accuracy_of(const ShownRuns& shown) {
  Quantity accuracy{"accuracy", "final accuracy (%)"};
  for (const PlottedRun& run : shown.runs) {
    std::vector<double> finals;
    for (const LearningCurve& curve : run.curves) finals.push_back(100.0 * curve.evaluations.back().accuracy);
    Bar bar{spread_if_any(finals), recorded_of(run, shown.recorded).final_accuracy};
    if (bar.recorded) *bar.recorded *= 100.0;
    accuracy.bars.push_back(bar);
  }
  return accuracy;
}

Quantity time_of(const ShownRuns& shown) {
  const PlottedRun& reference = shown.runs.front();
  Quantity time{"time", fmt::format("time / time of {}", reference.name)};
  if (text_width_in(time.title, shown.page.text_pt) > 0.5 * shown.page.width_in)
    time.title = "time / time of the first";
  const std::optional<Spread> first = spread_if_any(reference.work_times_s);
  for (const PlottedRun& run : shown.runs) {
    std::optional<Spread> spread = first ? spread_if_any(run.work_times_s) : std::nullopt;
    if (spread) spread = Spread{spread->mean / first->mean, spread->deviation / first->mean};
    time.bars.push_back({spread, recorded_of(run, shown.recorded).relative_time});
  }
  return time;
}

Table table_of(const Quantity& quantity, const std::vector<double>& places) {
  Table table{quantity.name, {"place", "zero", "mean", "low", "high", "recorded"}};
  for (std::size_t i = 0; i < places.size(); ++i) {
    const auto& [simulated, recorded] = quantity.bars[i];
    if (simulated) {
      table.rows.push_back(
          {places[i], 0.0, simulated->mean, low_end(*simulated), high_end(*simulated), recorded});
    } else {
      table.rows.push_back({places[i], 0.0, std::nullopt, std::nullopt, std::nullopt, recorded});
    }
  }
  return table;
}

// A length starts at zero; a place on an axis that does not is a point. Accuracies lie close together: an
// axis from zero would hide what matters.
void draw(Panel& panel, const Quantity& quantity, const Table& table, bool starts_at_zero) {
  double low = std::numeric_limits<double>::infinity();
  double high = -low;
  for (const double value : quantity.values()) {
    low = std::min(low, value);
    high = std::max(high, value);
  }
  if (starts_at_zero) {
    panel.x = {.title = quantity.title, .from = 0.0, .to = std::max(1.06 * high, 1e-9)};
  } else {
    const double margin = std::max(0.08 * (high - low), 0.1);
    panel.x = {.title = quantity.title, .from = low - margin, .to = high + margin};
  }
  panel.x.step = tic_step(*panel.x.to - *panel.x.from, tics_max);
  const Layer whiskers{Shape::whisker, table, {"low", "high", "place"}};
  if (!starts_at_zero) panel.layers.push_back(whiskers);  // under points, over bars
  for (std::size_t i = 0; i < quantity.bars.size(); ++i) {
    const Ink ink{.colour = series_ink(i).colour};
    if (starts_at_zero) {
      panel.layers.push_back({Shape::bars, table, {"zero", "mean", "place"}, ink, i, bar_in});
    } else {
      panel.layers.push_back({Shape::marks, table, {"mean", "place"}, ink, i});
    }
  }
  if (starts_at_zero) panel.layers.push_back(whiskers);
  panel.layers.push_back({Shape::marks, table, {"recorded", "place"}, hollow()});
}

std::string note_about(const ShownRuns& shown) {
  std::size_t cut_short = 0;
  for (const PlottedRun& run : shown.runs) cut_short += run.end_times_s.size() - run.work_times_s.size();
  std::string note = "point, bar: mean; whisker: ± standard deviation over the seeds";
  if (!shown.recorded.empty()) note += "; circle: recorded";
  if (cut_short > 0) note += fmt::format("; times without {} that diverged or stalled", cut_short);
  if (shown.runs.front().work_times_s.empty())
    note += fmt::format(": nothing of {} to compare with", shown.runs.front().name);
  return note;
}

}  // namespace

RecordedOutcomes read_recorded_outcomes(const std::filesystem::path& path) {
  const CsvFile table(path, {"variant", "final_accuracy", "relative_time"});
  RecordedOutcomes recorded;
  for (const CsvRow& row : table.rows())
    recorded[row.text("variant")] = {row.number_if_given("final_accuracy"),
                                     row.number_if_given("relative_time")};
  return recorded;
}

std::optional<Figure> outcome_figure(const ShownRuns& shown) {
  const bool ends_early =
      std::ranges::any_of(shown.runs, [](const PlottedRun& run) { return run.target_accuracy.has_value(); });
  if (shown.runs.size() < 2 || (ends_early && shown.recorded.empty())) return std::nullopt;
  std::vector<NamedRow> names;
  for (const PlottedRun& run : shown.runs) names.push_back({run.name});
  const auto [rows, places] = stacked_rows(names, bar_in, 1, shown.page);
  Figure figure{.is_side_by_side = true, .note = note_about(shown)};
  for (const Quantity& quantity : {accuracy_of(shown), time_of(shown)}) {
    if (!quantity.is_known()) continue;
    Panel panel = rows;
    if (!figure.panels.empty()) panel.texts.clear();  // the names stand once
    draw(panel, quantity, table_of(quantity, places), quantity.name == "time");
    figure.panels.push_back(std::move(panel));
  }
  if (figure.panels.empty()) return std::nullopt;
  return figure;
}

}  // namespace paceline::plots

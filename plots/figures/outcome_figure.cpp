#include <fmt/format.h>

#include "plots/figures/figures.hpp"
#include "plots/page/text.hpp"
#include "sim/base/csv.hpp"
#include "sim/base/order_statistics.hpp"

namespace paceline::plots {
namespace {

constexpr int tics_max = 6;  // more labels touch each other

// Nothing without values.
std::optional<Spread> spread_over(const std::vector<double>& values, double unit) {
  if (values.empty()) return std::nullopt;
  const Spread spread = spread_of(values);
  return Spread{spread.mean / unit, spread.deviation / unit};
}

// A quantity of every policy, in the unit of its axis.
struct Quantity {
  Table table;
  std::string title;
  Extent extent = {};  // of all whiskers and the recorded values
  bool is_known = false;
  bool starts_at_zero = false;

  Quantity(const std::string& name, std::string of_axis, bool from_zero)
      : table{name, {"place", "zero", "mean", "low", "high", "recorded"}},
        title(std::move(of_axis)),
        starts_at_zero(from_zero) {}

  void add(double place, const std::optional<Spread>& simulated, const std::optional<double>& recorded) {
    std::optional<double> mean;
    std::optional<double> low;
    std::optional<double> high;
    if (simulated) {
      is_known = true;
      mean = simulated->mean;
      low = simulated->mean - simulated->deviation;
      high = simulated->mean + simulated->deviation;
    }
    for (const std::optional<double>& value : {low, high, recorded})
      if (value) extent.include(*value);
    table.rows.push_back({place, 0.0, mean, low, high, recorded});
  }
};

RecordedOutcome recorded_of(const PlottedRun& run, const RecordedOutcomes& recorded) {
  const auto known = recorded.find(run.name);
  return known == recorded.end() ? RecordedOutcome{} : known->second;
}

Quantity accuracy_of(const ShownRuns& shown, const std::vector<double>& places) {
  Quantity accuracy("accuracy", "final accuracy (%)", false);
  for (std::size_t i = 0; i < places.size(); ++i) {
    std::vector<double> finals;
    for (const LearningCurve& curve : shown.runs[i].curves) finals.push_back(100.0 * curve.back().accuracy);
    std::optional<double> recorded = recorded_of(shown.runs[i], shown.recorded).final_accuracy;
    if (recorded) *recorded *= 100.0;
    accuracy.add(places[i], spread_over(finals, 1.0), recorded);
  }
  return accuracy;
}

Quantity time_of(const ShownRuns& shown, const std::vector<double>& places) {
  const PlottedRun& reference = shown.runs.front();
  std::string title = fmt::format("time / time of {}", reference.name);
  if (text_width_in(title, shown.page.text_pt) > 0.5 * shown.page.width_in)
    title = "time / time of the first";
  Quantity time("time", std::move(title), true);
  const std::optional<Spread> first = spread_over(reference.work_times_s, 1.0);
  for (std::size_t i = 0; i < places.size(); ++i)
    time.add(places[i], first ? spread_over(shown.runs[i].work_times_s, first->mean) : std::nullopt,
             recorded_of(shown.runs[i], shown.recorded).relative_time);
  return time;
}

// A length starts at zero; a place on an axis that does not is a point. Accuracies lie close together: an
// axis from zero would hide what matters.
void draw(Panel& panel, const Quantity& quantity, const std::vector<PlottedRun>& runs) {
  const auto& [table, title, extent, is_known, starts_at_zero] = quantity;
  panel.x = extent.axis(title, std::max(0.08 * extent.length(), 0.1));
  if (starts_at_zero) panel.x = {.title = title, .from = 0.0, .to = std::max(1.06 * extent.high, 1e-9)};
  panel.x.step = tic_step(*panel.x.to - *panel.x.from, tics_max);
  const Layer whiskers{Shape::whisker, table, {"low", "high", "place"}};
  if (!starts_at_zero) panel.layers.push_back(whiskers);  // under points, over bars
  for (std::size_t i = 0; i < table.rows.size(); ++i) {
    const Ink ink{.colour = series_ink(runs[i].series).colour};
    if (starts_at_zero) {
      panel.layers.push_back({Shape::bars, table, {"zero", "mean", "place"}, ink, i, named_bar_in});
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
  const auto [rows, places] = stacked_rows(names, named_bar_in, 1, shown.page);
  Figure figure{.is_side_by_side = true, .note = note_about(shown)};
  for (const Quantity& quantity : {accuracy_of(shown, places), time_of(shown, places)}) {
    if (!quantity.is_known) continue;
    Panel panel = rows;
    if (!figure.panels.empty()) panel.texts.clear();  // the names stand once
    draw(panel, quantity, shown.runs);
    figure.panels.push_back(std::move(panel));
  }
  if (figure.panels.empty()) return std::nullopt;
  return figure;
}

}  // namespace paceline::plots

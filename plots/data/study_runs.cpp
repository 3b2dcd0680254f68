#include "plots/data/study_runs.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <set>

#include <boost/math/distributions/students_t.hpp>
#include <fmt/format.h>
#include <fmt/ranges.h>
#include <nlohmann/json.hpp>

#include "plots/data/combinations.hpp"
#include "sim/base/atomic_file.hpp"
#include "sim/base/number_text.hpp"
#include "sim/base/order_statistics.hpp"

namespace paceline::plots {

NLOHMANN_DEFINE_TYPE_NON_INTRUSIVE_WITH_DEFAULT(StudyFigureSpec, name, metric, against, series, where,
                                                recorded, difference_from)

namespace {

namespace fs = std::filesystem;
using nlohmann::json;
using Columns = std::vector<std::string>;

constexpr double never_reached = std::numeric_limits<double>::infinity();
constexpr auto time_metric = "time_to_accuracy_s";  // empty where the target was never reached

// Nothing where the folder holds no study with a table of its runs.
json study_manifest(const fs::path& folder) {
  std::error_code ignored;
  if (!fs::exists(folder / "runs.csv", ignored)) return json::object();
  json manifest = json::parse(read_file(folder / "manifest.json"), nullptr, false);
  return manifest.is_object() && manifest.value("format", "") == "paceline-study" ? manifest : json::object();
}

// The runs of a study and what a figure shows of each: its metric, or how far that is from its twin in the
// reference.
class ShownRows {
 public:
  ShownRows(const fs::path& folder, const StudyFigureSpec& spec)
      : spec_(spec), table_(read_results_csv(folder / "runs.csv")), study_(study_manifest(folder), table_) {
    for (const CsvRow& row : table_.rows())
      if (is_reference(row))
        if (const std::optional<double> value = metric(row)) references_.emplace(twin(row), *value);
  }

  [[nodiscard]] std::vector<CsvRow> rows() const {
    std::vector<CsvRow> shown;
    std::ranges::copy_if(table_.rows(), std::back_inserter(shown), [&](const CsvRow& row) {
      return std::ranges::all_of(spec_.where, [&](const auto& condition) {
        return std::ranges::count(condition.second, row.text(condition.first)) > 0;
      });
    });
    return shown;
  }

  // A reference shows nothing of its own.
  [[nodiscard]] bool is_reference(const CsvRow& row) const {
    return !spec_.difference_from.empty() && row.text(spec_.series) == spec_.difference_from;
  }

  // Nothing: the run failed, has no such metric (a lag where nothing changed), or no twin to be compared
  // with.
  [[nodiscard]] std::optional<double> value(const CsvRow& row) const {
    const std::optional<double> value = metric(row);
    if (!value || spec_.difference_from.empty()) return value;
    const auto reference = references_.find(twin(row));
    if (reference == references_.end() || !std::isfinite(*value) || !std::isfinite(reference->second))
      return std::nullopt;
    return *value - reference->second;
  }

  [[nodiscard]] bool is_left_out(const CsvRow& row) const {
    return (spec_.metric == "end_time_s" || spec_.metric == "core_hours") && is_cut_short(table_, row);
  }

  [[nodiscard]] bool is_diverged(const CsvRow& row) const {
    return table_.has("end_reason") && row.text("end_reason") == "diverged";
  }

  // The mean time between its evaluations; older results do not say.
  [[nodiscard]] double grid(const CsvRow& row) const {
    if (!table_.has("evaluation_interval_s")) return 0.0;
    return row.number_if_given("evaluation_interval_s").value_or(0.0);
  }

  // Of all rows of the table, shown or not, so that figures agree. Series that do not tell apart what has
  // colours of its own have the colours after these.
  [[nodiscard]] std::map<std::string, SeriesPlace> places_of_series() const {
    InkPlaces inks(study_);
    const std::string column = study_.columns.empty() ? "" : study_.columns[inks.column()];
    std::map<std::string, SeriesPlace> places;
    const bool is_told = std::ranges::count(told_columns(), column) > 0;
    for (const CsvRow& row : table_.rows()) {
      std::string name = series_name(row);
      if (places.contains(name)) continue;
      const SeriesPlace place =
          is_told ? inks.of(row.text(column), name) : SeriesPlace{inks.labels() + places.size(), 0};
      places.emplace(std::move(name), place);
    }
    return places;
  }

  [[nodiscard]] bool has_assumed_learner(const CsvRow& row) const {
    return table_.has("assumed_learner") && row.count("assumed_learner") == 1;  // older results do not say
  }

  // Everything that tells a line from another: the series first, then whatever else is varied and not held to
  // one label.
  [[nodiscard]] Columns told_columns() const {
    Columns told;
    if (!spec_.series.empty()) told.push_back(spec_.series);
    for (const std::string& column : study_.columns) {
      if (column == spec_.against || column == spec_.series) continue;
      const auto held = spec_.where.find(column);
      if (held == spec_.where.end() || held->second.size() > 1) told.push_back(column);
    }
    return told;
  }

  [[nodiscard]] std::string series_name(const CsvRow& row) const {
    Columns told = told_columns();
    for (std::string& part : told) {
      const std::string& label = row.text(part);
      const bool speaks_for_itself = part == "variant" || !split_number(label);
      part = speaks_for_itself ? label : fmt::format("{} {}", part, label);
    }
    return fmt::format("{}", fmt::join(told, ", "));
  }

 private:
  [[nodiscard]] std::optional<double> metric(const CsvRow& row) const {
    const std::optional<double> value = row.number_if_given(spec_.metric);
    if (row.text("status") != "done" || is_left_out(row)) return std::nullopt;
    return value || spec_.metric != time_metric ? value : std::optional(never_reached);
  }

  // Everything that a run shares with its reference.
  [[nodiscard]] std::string twin(const CsvRow& row) const {
    std::string key = row.text("replication");
    for (const std::string& column : study_.columns)
      if (column != spec_.series) key += '\n' + row.text(column);
    return key;
  }

  const StudyFigureSpec& spec_;
  CsvFile table_;
  StudyNames study_;
  std::map<std::string, double> references_;  // by twin
};

// Labels that are all numbers in one unit stand at their numbers.
void find_scale(StudyChart& chart) {
  for (const std::string& label : chart.axis_labels) {
    const auto number = split_number(label);
    chart.is_numeric = number && (&label == &chart.axis_labels.front() || number->unit == chart.unit);
    chart.unit = chart.is_numeric ? number->unit : "";
    if (!chart.is_numeric) return;
  }
}

double place_of(const StudyChart& chart, const std::string& label) {
  if (chart.is_numeric) return split_number(label)->number;
  return static_cast<double>(std::ranges::find(chart.axis_labels, label) - chart.axis_labels.begin());
}

// Half of the width of the 95 % interval of the mean; 0 for one value.
double mean_uncertainty(const std::vector<double>& values) {
  if (values.size() < 2) return 0.0;
  const auto n = static_cast<double>(values.size());
  const double t = boost::math::quantile(boost::math::students_t_distribution<double>(n - 1.0), 0.975);
  return t * spread_of(values).deviation / std::sqrt(n);
}

struct Ends {
  double low;
  double high;
};

// Where one further value lies with a probability of 90 %.
std::optional<Ends> prediction_interval_of(std::vector<double> values, bool is_accuracy, double grid) {
  if (values.size() < least_for_interval) return std::nullopt;
  const bool is_positive = std::ranges::all_of(values, [](double value) { return value > 0.0; });
  const bool uses_logarithms = is_positive && !is_accuracy;
  const double relative_grid = is_positive ? grid / median(values) : 0.0;
  if (uses_logarithms)
    for (double& value : values) value = std::log(value);
  const auto n = static_cast<double>(values.size());
  Spread spread = spread_of(values);
  if (uses_logarithms) spread.deviation = std::max(spread.deviation, relative_grid / std::sqrt(12.0));
  const double t = boost::math::quantile(boost::math::students_t_distribution<double>(n - 1.0), 0.95);
  const double half_width = t * spread.deviation * std::sqrt(1.0 + 1.0 / n);
  const Ends ends{spread.mean - half_width, spread.mean + half_width};
  if (uses_logarithms) return Ends{std::exp(ends.low), std::exp(ends.high)};
  return is_accuracy ? Ends{std::max(ends.low, 0.0), std::min(ends.high, 1.0)} : ends;
}

struct PointValues {
  std::vector<double> values = {};
  double grid_sum = 0.0;     // of the time between evaluations
  std::size_t runs = 0;      // with or without a value
  std::size_t diverged = 0;  // of these
};

StudyPoint point_of(double x, const PointValues& of_point, const StudyFigureSpec& spec) {
  const std::vector<double>& values = of_point.values;
  StudyPoint point{.x = x, .runs = values.size(), .diverged = of_point.diverged};
  if (values.empty()) {
    point.runs = of_point.runs;
    return point;
  }
  if (!spec.difference_from.empty()) {
    point.middle = spread_of(values).mean;
    const double half_width = mean_uncertainty(values);
    point.low = *point.middle - half_width;
    point.high = *point.middle + half_width;
    return point;
  }
  if (const double middle = median(values); middle != never_reached) point.middle = middle;
  std::vector<double> known;
  std::ranges::copy_if(values, std::back_inserter(known),
                       [](double value) { return value != never_reached; });
  const bool is_read_off_evaluations = spec.metric == time_metric;
  const auto ends = prediction_interval_of(
      known, spec.metric.ends_with("accuracy"),
      is_read_off_evaluations ? of_point.grid_sum / static_cast<double>(of_point.runs) : 0.0);
  if (values.size() == 1) {
    point.low = point.high = point.middle;  // nothing is known of another
  } else if (ends) {
    point.low = ends->low;
    if (known.size() == values.size()) point.high = ends->high;
  }
  return point;
}

void add_recorded(StudyChart& chart) {
  if (chart.spec.recorded.empty()) return;
  for (const CsvFile table(chart.spec.recorded, {"series", "x", "y"}); const CsvRow& row : table.rows()) {
    const auto series = std::ranges::find(chart.series, row.text("series"), &StudySeries::name);
    if (series == chart.series.end()) {
      std::vector<std::string> names;
      for (const StudySeries& one : chart.series) names.push_back(one.name);
      row.fail_at("series",
                  fmt::format("the figure `{}` has no series `{}`", chart.spec.name, row.text("series")),
                  fmt::format("its series: {}", fmt::join(names, "; ")));
    }
    const std::string& x = row.text("x");
    const bool is_label = std::ranges::count(chart.axis_labels, x) > 0;
    const auto number = split_number(x);
    if (!is_label && (!chart.is_numeric || !number || (!number->unit.empty() && number->unit != chart.unit)))
      row.fail_at("x", fmt::format("`{}` is no place along `{}`", x, chart.spec.against),
                  "write a label of the study, or a number in its unit");
    series->recorded.push_back({is_label ? place_of(chart, x) : number->number, row.number("y")});
  }
}

bool has_folders(const fs::path& folder) {
  for (const fs::directory_entry& entry : fs::directory_iterator(folder))
    if (entry.is_directory() && fs::exists(entry.path() / "manifest.json")) return true;
  return false;
}

}  // namespace

std::vector<StudyFigureSpec> study_figure_specs(const fs::path& folder) {
  const json manifest = study_manifest(folder);
  const auto specs = manifest.value("figures", std::vector<StudyFigureSpec>{});
  const auto columns = manifest.value("columns", Columns{});
  if (!specs.empty() || columns.empty()) return specs;
  // Variants alone have folders of their own, unless the study is not done yet.
  if (columns.back() == "variant" && has_folders(folder)) return specs;
  const CsvFile table = read_results_csv(folder / "runs.csv");
  const bool any_reached =
      std::ranges::any_of(table.rows(), [](const CsvRow& row) { return !row.text(time_metric).empty(); });
  return {{.name = "study", .metric = any_reached ? time_metric : "end_time_s", .against = columns.back()}};
}

StudyChart read_study_chart(const fs::path& folder, const StudyFigureSpec& spec) {
  const ShownRows shown(folder, spec);
  StudyChart chart{.spec = spec};
  // By series and label, both in the order of the study.
  std::vector<std::string> names;
  std::map<std::pair<std::string, std::string>, PointValues> values;
  std::set<std::string> assumed;
  for (const CsvRow& row : shown.rows()) {
    if (shown.is_left_out(row)) ++chart.cut_short;
    if (shown.is_reference(row)) continue;
    const std::string name = shown.series_name(row);
    const std::string& label = row.text(spec.against);
    if (std::ranges::count(names, name) == 0) names.push_back(name);
    if (shown.has_assumed_learner(row)) assumed.insert(name);
    if (std::ranges::count(chart.axis_labels, label) == 0) chart.axis_labels.push_back(label);
    if (row.text("status") != "done") continue;
    PointValues& here = values[{name, label}];
    ++here.runs;
    here.diverged += shown.is_diverged(row) ? 1U : 0U;
    here.grid_sum += shown.grid(row);
    if (const std::optional<double> value = shown.value(row)) here.values.push_back(*value);
  }
  const std::map<std::string, SeriesPlace> places = shown.places_of_series();
  find_scale(chart);
  for (const std::string& name : names) {
    StudySeries& series = chart.series.emplace_back();
    series.name = name;
    series.place = places.at(name);
    series.has_assumed_learner = assumed.contains(name);
    for (const std::string& label : chart.axis_labels) {
      const auto found = values.find({name, label});
      // Without a value a point is only drawn where runs diverged.
      if (found == values.end() || (found->second.values.empty() && found->second.diverged == 0)) continue;
      StudyPoint& point = series.points.emplace_back(point_of(place_of(chart, label), found->second, spec));
      point.label = static_cast<std::size_t>(&label - chart.axis_labels.data());
      if (!point.middle) ++chart.never;
    }
    std::ranges::stable_sort(series.points, {}, &StudyPoint::x);
  }
  add_recorded(chart);
  return chart;
}

}  // namespace paceline::plots

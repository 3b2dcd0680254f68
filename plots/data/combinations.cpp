#include "plots/data/combinations.hpp"

#include <algorithm>
#include <limits>
#include <map>
#include <set>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "sim/base/atomic_file.hpp"
#include "sim/base/order_statistics.hpp"

namespace paceline::plots {
namespace {

constexpr double never = std::numeric_limits<double>::infinity();

struct Collected {
  Combination combination;
  std::vector<double> times_s = {};
  std::vector<double> costs = {};
};

std::optional<double> finite_median(const std::vector<double>& values) {
  if (values.empty()) return std::nullopt;
  const double middle = median(values);
  return middle < never ? std::optional(middle) : std::nullopt;
}

void add_run(const CsvFile& table, const CsvRow& row, const Combinations& study, Collected& into) {
  Combination& one = into.combination;
  ++one.runs;
  if (table.has("end_reason") && row.text("end_reason") == "diverged") ++one.diverged;
  // Older results do not say.
  if (table.has("assumed_learner") && row.count("assumed_learner") == 1) one.has_assumed_learner = true;
  const double end_s = row.number("end_time_s");
  const std::optional<double> time_s = study.has_target           ? row.number_if_given("time_to_accuracy_s")
                                       : is_cut_short(table, row) ? std::nullopt
                                                                  : std::optional(end_s);
  into.times_s.push_back(time_s.value_or(never));
  double cost = never;
  if (study.has_price) {
    cost = row.number_if_given("cost_to_target").value_or(never);
  } else if (table.has("core_hours") && end_s > 0.0) {
    cost = row.number("core_hours") * time_s.value_or(never) / end_s;
  }
  into.costs.push_back(cost);
}

void find_front(Combinations& study) {
  std::vector<std::size_t> of_case;
  for (std::size_t c = 0; c < study.columns.size(); ++c)
    if (std::ranges::count(study.conditions, study.columns[c]) > 0) of_case.push_back(c);
  for (Combination& one : study.all) {
    if (!one.time_s || !one.cost) continue;
    one.is_on_front = std::ranges::none_of(study.all, [&](const Combination& other) {
      if (!other.time_s || !other.cost) return false;
      const bool competes =
          std::ranges::all_of(of_case, [&](std::size_t c) { return other.labels[c] == one.labels[c]; });
      const bool is_no_worse = *other.time_s <= *one.time_s && *other.cost <= *one.cost;
      return competes && is_no_worse && (*other.time_s < *one.time_s || *other.cost < *one.cost);
    });
  }
}

}  // namespace

std::vector<std::string> Combinations::labels_of(std::size_t column) const {
  std::vector<std::string> labels;
  for (const Combination& one : all)
    if (std::ranges::count(labels, one.labels[column]) == 0) labels.push_back(one.labels[column]);
  return labels;
}

std::vector<std::size_t> Combinations::varied_columns(std::optional<bool> of_conditions) const {
  std::vector<std::size_t> varied;
  for (std::size_t c = 0; c < columns.size(); ++c) {
    const bool is_condition = std::ranges::count(conditions, columns[c]) > 0;
    if (labels_of(c).size() > 1 && (!of_conditions || is_condition == *of_conditions)) varied.push_back(c);
  }
  return varied;
}

StudyNames::StudyNames(const nlohmann::json& manifest, const CsvFile& runs)
    : columns(manifest.value("columns", std::vector<std::string>{})),
      conditions(manifest.value("conditions", std::vector<std::string>{})),
      all_labels(columns.size()) {
  if (conditions.size() >= columns.size()) conditions.clear();
  std::vector<std::set<std::string>> seen(columns.size());
  for (const CsvRow& row : runs.rows())
    for (std::size_t c = 0; c < columns.size(); ++c)
      if (const std::string& label = row.text(columns[c]); seen[c].insert(label).second)
        all_labels[c].push_back(label);
}

InkPlaces::InkPlaces(const StudyNames& study) {
  if (study.columns.empty()) return;
  const auto is_condition = [&](std::size_t c) {
    return std::ranges::count(study.conditions, study.columns[c]) > 0;
  };
  for (std::size_t c = study.columns.size(); c-- > 0;)
    if (study.all_labels[c].size() > 1 && !is_condition(c)) column_ = c;
  labels_ = study.all_labels[column_];
}

SeriesPlace InkPlaces::of(const std::string& label, const std::string& others) {
  std::vector<std::string>& known = others_of_[label];
  auto place = std::ranges::find(known, others);
  if (place == known.end()) place = known.insert(known.end(), others);
  return {static_cast<std::size_t>(std::ranges::find(labels_, label) - labels_.begin()),
          static_cast<std::size_t>(place - known.begin())};
}

std::string Combinations::text_of(const Combination& one, const std::vector<std::size_t>& of_columns) const {
  std::string text;
  for (const std::size_t c : of_columns) {
    const std::string column = columns[c] == "variant" ? "" : columns[c] + " ";
    text += fmt::format("{}{}{}", text.empty() ? "" : ", ", column, one.labels[c]);
  }
  return text;
}

std::optional<Combinations> read_combinations(const std::filesystem::path& folder) {
  std::error_code ignored;
  if (!std::filesystem::exists(folder / "runs.csv", ignored)) return std::nullopt;
  const auto manifest = nlohmann::json::parse(read_file(folder / "manifest.json"), nullptr, false);
  if (!manifest.is_object() || manifest.value("format", "") != "paceline-study") return std::nullopt;
  Combinations study;
  const CsvFile table = read_results_csv(folder / "runs.csv");
  static_cast<StudyNames&>(study) = StudyNames(manifest, table);
  const auto is_done = [](const CsvRow& row) { return row.text("status") == "done"; };
  for (const CsvRow& row : table.rows()) {
    if (!is_done(row)) continue;
    study.has_target = study.has_target || row.number_if_given("time_to_accuracy_s");
    study.has_price =
        study.has_price || (table.has("cost_to_target") && row.number_if_given("cost_to_target"));
  }
  std::map<std::vector<std::string>, std::size_t> places;
  std::vector<Collected> collected;
  for (const CsvRow& row : table.rows()) {
    if (!is_done(row)) continue;
    std::vector<std::string> labels;
    for (const std::string& column : study.columns) labels.push_back(row.text(column));
    const auto [place, is_new] = places.emplace(labels, collected.size());
    if (is_new)
      collected.push_back({{.point = table.has("point") ? row.count("point") : 0, .labels = labels}});
    add_run(table, row, study, collected[place->second]);
  }
  for (Collected& one : collected) {
    one.combination.time_s = finite_median(one.times_s);
    one.combination.cost = finite_median(one.costs);
    study.all.push_back(std::move(one.combination));
  }
  find_front(study);
  return study;
}

}  // namespace paceline::plots

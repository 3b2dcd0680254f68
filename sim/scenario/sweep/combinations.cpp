// Which combinations of variants and axis points a study runs.
#include <algorithm>

#include <fmt/format.h>

#include "sim/scenario/sweep/study_parts.hpp"

namespace paceline {
namespace {

constexpr std::size_t most_combinations = 1'000'000;

// Variants and axes alike: a name and its labels.
struct Column {
  std::string name;
  std::vector<std::string> labels;
};

std::vector<Column> columns_of(const std::vector<StudyVariantSet>& variants, const std::vector<Axis>& axes) {
  std::vector<Column> columns{{"variant", {}}};
  for (const StudyVariantSet& variant : variants) columns.front().labels.push_back(variant.name);
  for (const Axis& axis : axes) {
    columns.push_back({axis.name, {}});
    for (const AxisPoint& point : axis.points) columns.back().labels.push_back(point.label);
  }
  return columns;
}

// The indices of one combination: of its variant (0 without variants), then of its point on each axis.
using Indices = std::vector<std::uint32_t>;

// A combination is left out when it has one of the labels in every column that the rule names.
struct Rule {
  std::vector<std::pair<std::size_t, std::vector<bool>>> chosen;  // column, and which of its labels

  [[nodiscard]] bool covers(const Indices& indices) const {
    return std::ranges::all_of(chosen, [&](const auto& entry) { return entry.second[indices[entry.first]]; });
  }
};

class RuleReader {
 public:
  RuleReader(const std::vector<Column>& columns, Problems& problems)
      : columns_(columns), problems_(problems) {}

  [[nodiscard]] std::optional<Rule> read(const std::vector<Assignment>& text) {
    Rule rule;
    bool sound = !text.empty();
    for (const Assignment& entry : text) {
      const std::optional<std::size_t> column = find(entry);
      sound = sound && column;
      if (!column) continue;
      rule.chosen.emplace_back(*column, std::vector<bool>(columns_[*column].labels.size(), false));
      const bool is_list = entry.value.kind == YamlNode::Kind::list;
      const std::vector<YamlNode> one{entry.value};
      for (const YamlNode& label : is_list ? entry.value.items : one)
        sound = choose(label, columns_[*column], rule.chosen.back().second) && sound;
    }
    return sound ? std::optional(rule) : std::nullopt;
  }

 private:
  std::optional<std::size_t> find(const Assignment& entry) {
    std::vector<std::string> known;
    for (std::size_t c = 0; c < columns_.size(); ++c) {
      if (columns_[c].labels.empty()) continue;
      if (columns_[c].name == entry.path) return c;
      known.push_back(columns_[c].name);
    }
    refuse_unknown_axis(entry.path, known, entry.spot, problems_);
    return std::nullopt;
  }

  bool choose(const YamlNode& label, const Column& column, std::vector<bool>& chosen) {
    const auto found = std::ranges::find(column.labels, label.text);
    if (label.kind == YamlNode::Kind::scalar && found != column.labels.end()) {
      chosen[static_cast<std::size_t>(found - column.labels.begin())] = true;
      return true;
    }
    problems_.error(label.spot, fmt::format("`{}` has no label `{}`", column.name, label.text),
                    hint_for(label.text, column.labels, "its labels"));
    return false;
  }

  const std::vector<Column>& columns_;
  Problems& problems_;
};

// To the next combination, the last index fastest; false after the last one.
bool step(Indices& indices, const std::vector<Column>& columns) {
  for (std::size_t c = indices.size(); c-- > 0;) {
    if (++indices[c] < columns[c].labels.size()) return true;
    indices[c] = 0;
  }
  return false;
}

StudyPoint point_at(const Indices& indices, const std::vector<Column>& columns) {
  StudyPoint point{{}, indices.front(), {indices.begin() + 1, indices.end()}};
  if (!columns.front().labels.empty()) point.name = columns.front().labels[indices.front()];
  for (std::size_t c = 1; c < columns.size(); ++c)
    point.name += fmt::format("{}{} {}", point.name.empty() ? "" : ", ", columns[c].name,
                              columns[c].labels[indices[c]]);
  return point;
}

}  // namespace

std::vector<StudyPoint> combinations(const std::vector<StudyVariantSet>& variants,
                                     const std::vector<Axis>& axes, const StudyText& text,
                                     const Reading& reading) {
  const std::vector<Column> columns = columns_of(variants, axes);
  double count = 1.0;
  for (const Column& column : columns)
    count *= static_cast<double>(std::max<std::size_t>(1, column.labels.size()));
  if (count > static_cast<double>(most_combinations)) {
    reading.problems().error(reading.spot("vary"),
                             fmt::format("these are more than {} combinations", most_combinations),
                             "vary less, or try fewer values");
    return {};
  }
  RuleReader reader(columns, reading.problems());
  std::vector<Rule> rules;
  for (const std::vector<Assignment>& rule : text.exclude)
    if (std::optional<Rule> read = reader.read(rule)) rules.push_back(std::move(*read));
  std::vector<StudyPoint> points;
  Indices indices(columns.size(), 0);
  do {
    if (std::ranges::none_of(rules, [&](const Rule& rule) { return rule.covers(indices); }))
      points.push_back(point_at(indices, columns));
  } while (step(indices, columns));
  if (points.empty())
    reading.problems().error(reading.spot("exclude"), "this leaves no combination: nothing would be run",
                             "remove one of the rules, or a label from it");
  return points;
}

}  // namespace paceline

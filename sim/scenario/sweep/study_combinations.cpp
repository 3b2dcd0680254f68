#include "sim/scenario/sweep/study_combinations.hpp"

#include <algorithm>
#include <optional>

#include <fmt/format.h>
#include <fmt/ranges.h>

namespace paceline {
namespace {

constexpr std::size_t most_combinations = 1'000'000;

// Variants and axes alike: a name and its labels.
struct Column {
  std::string name;
  std::vector<std::string> labels;
};

std::vector<Column> dimensions_of(const std::vector<StudyVariantSet>& variants,
                                  const std::vector<Axis>& axes) {
  std::vector<Column> dimensions(1, {"variant", {}});
  for (const StudyVariantSet& variant : variants) dimensions.front().labels.push_back(variant.name);
  for (const Axis& axis : axes) {
    dimensions.push_back({axis.name, {}});
    for (const AxisPoint& point : axis.points) dimensions.back().labels.push_back(point.label);
  }
  return dimensions;
}

// The indices of one combination: of its variant (0 without variants), then of its point on each axis.
using Indices = std::vector<std::uint32_t>;

// A combination is left out when it has one of the labels in every dimension that the rule names.
struct Rule {
  std::vector<std::pair<std::size_t, std::vector<bool>>> chosen;  // dimension, and which of its labels

  [[nodiscard]] bool covers(const Indices& indices) const {
    return std::ranges::all_of(chosen, [&](const auto& entry) { return entry.second[indices[entry.first]]; });
  }
};

class RuleReader {
 public:
  RuleReader(const std::vector<Column>& dimensions, Problems& problems)
      : dimensions_(dimensions), problems_(problems) {}

  [[nodiscard]] std::optional<Rule> read(const std::vector<Assignment>& text) {
    Rule rule;
    bool sound = !text.empty();
    for (const Assignment& entry : text) {
      const std::optional<std::size_t> dimension = find(entry);
      if (!dimension) {
        sound = false;
        continue;
      }
      rule.chosen.emplace_back(*dimension, std::vector<bool>(dimensions_[*dimension].labels.size(), false));
      const bool is_list = entry.value.kind == YamlNode::Kind::list;
      const std::vector<YamlNode> one{entry.value};
      for (const YamlNode& label : is_list ? entry.value.items : one)
        sound = choose(label, dimensions_[*dimension], rule.chosen.back().second) && sound;
    }
    return sound ? std::optional(rule) : std::nullopt;
  }

 private:
  std::optional<std::size_t> find(const Assignment& entry) {
    std::vector<std::string> known;
    for (std::size_t d = 0; d < dimensions_.size(); ++d) {
      if (dimensions_[d].labels.empty()) continue;
      if (dimensions_[d].name == entry.path) return d;
      known.push_back(dimensions_[d].name);
    }
    const std::optional<std::string> likely = closest(entry.path, known);
    problems_.error(entry.spot, fmt::format("nothing that is varied has the name `{}`", entry.path),
                    likely ? fmt::format("did you mean `{}`?", *likely)
                           : fmt::format("varied here: {}", fmt::join(known, ", ")));
    return std::nullopt;
  }

  bool choose(const YamlNode& label, const Column& dimension, std::vector<bool>& chosen) {
    const auto found = std::ranges::find(dimension.labels, label.text);
    if (label.kind == YamlNode::Kind::scalar && found != dimension.labels.end()) {
      chosen[static_cast<std::size_t>(found - dimension.labels.begin())] = true;
      return true;
    }
    const std::optional<std::string> likely = closest(label.text, dimension.labels);
    problems_.error(label.spot, fmt::format("`{}` has no label `{}`", dimension.name, label.text),
                    likely ? fmt::format("did you mean `{}`?", *likely)
                           : fmt::format("its labels: {}", fmt::join(dimension.labels, ", ")));
    return false;
  }

  const std::vector<Column>& dimensions_;
  Problems& problems_;
};

// To the next combination, the last index fastest; false after the last one.
bool advance(Indices& indices, const std::vector<Column>& dimensions) {
  for (std::size_t d = indices.size(); d-- > 0;) {
    if (++indices[d] < dimensions[d].labels.size()) return true;
    indices[d] = 0;
  }
  return false;
}

StudyPoint point_at(const Indices& indices, const std::vector<Column>& dimensions) {
  StudyPoint point{{}, indices.front(), {indices.begin() + 1, indices.end()}};
  if (!dimensions.front().labels.empty()) point.name = dimensions.front().labels[indices.front()];
  for (std::size_t d = 1; d < dimensions.size(); ++d)
    point.name += fmt::format("{}{} {}", point.name.empty() ? "" : ", ", dimensions[d].name,
                              dimensions[d].labels[indices[d]]);
  return point;
}

// One number for both `vary` and its products; too large to be listed counts as too large.
bool are_too_many(const std::vector<Column>& dimensions) {
  double count = 1.0;
  for (const Column& dimension : dimensions)
    count *= static_cast<double>(std::max<std::size_t>(1, dimension.labels.size()));
  return count > static_cast<double>(most_combinations);
}

}  // namespace

std::vector<StudyPoint> combinations(const std::vector<StudyVariantSet>& variants,
                                     const std::vector<Axis>& axes, const StudyText& text,
                                     const Reading& reading) {
  const std::vector<Column> dimensions = dimensions_of(variants, axes);
  if (are_too_many(dimensions)) {
    reading.problems().error(reading.spot("vary"),
                             fmt::format("these are more than {} combinations", most_combinations),
                             "vary less, or in larger steps");
    return {};
  }
  RuleReader reader(dimensions, reading.problems());
  std::vector<Rule> rules;
  for (const std::vector<Assignment>& rule : text.exclude)
    if (std::optional<Rule> read = reader.read(rule)) rules.push_back(std::move(*read));
  std::vector<StudyPoint> points;
  Indices indices(dimensions.size(), 0);
  do {
    const bool excluded = std::ranges::any_of(rules, [&](const Rule& rule) { return rule.covers(indices); });
    if (!excluded) points.push_back(point_at(indices, dimensions));
  } while (advance(indices, dimensions));
  if (points.empty())
    reading.problems().error(reading.spot("exclude"), "this leaves no combination: nothing would be run",
                             "remove one of the rules, or a label from it");
  return points;
}

}  // namespace paceline

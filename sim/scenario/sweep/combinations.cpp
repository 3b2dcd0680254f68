// Which combinations of variants and axis points a study runs, and the scenario of each.
#include <algorithm>

#include <fmt/format.h>

#include "sim/scenario/repeated_workers.hpp"
#include "sim/scenario/sweep/study_parts.hpp"

namespace paceline {
namespace {

constexpr double most_combinations = 1e6;
constexpr std::size_t maximum_folder_length = 100;

// What a study runs of each combination when nobody says: a statistical learner is cheap, and a probability
// of being faster needs that many to be worth printing.
constexpr int default_replications = 100;

// The label or labels that one entry of a rule names.
std::vector<YamlNode> labels_in(const Assignment& entry) {
  return entry.value.kind == YamlNode::Kind::list ? entry.value.items : std::vector{entry.value};
}

// A combination is left out when it has one of the labels in every column that the rule names.
bool covers(const std::vector<Assignment>& rule, const StudyPlan& plan, const StudyPoint& point) {
  const std::vector<std::string> columns = plan.columns();
  const std::vector<std::string> labels = plan.labels(point);
  return !rule.empty() && std::ranges::all_of(rule, [&](const Assignment& entry) {
    const auto column = std::ranges::find(columns, entry.path);
    return column != columns.end() &&
           std::ranges::count(labels_in(entry), labels[static_cast<std::size_t>(column - columns.begin())],
                              &YamlNode::text) > 0;
  });
}

void use_default_replications(LoadedScenario& loaded) {
  const auto given = std::ranges::find(loaded.values, std::string("replications"), &ResolvedValue::key);
  if (given == loaded.values.end() || given->origin != "default") return;
  const LearnerKind learner = loaded.scenario.learner.kind;
  if (learner != LearnerKind::statistical && learner != LearnerKind::assumed) return;
  loaded.scenario.replications = default_replications;
  given->value = std::to_string(default_replications);
  given->origin = "default: of a study with such a learner";
}

// What one assignment of a study gives a combination, in a tree of its own.
struct Given {
  std::string owner;
  Spot spot;
  YamlNode tree;
};

YamlNode alone(const Assignment& assignment) {
  YamlNode tree;
  tree.kind = YamlNode::Kind::map;
  Problems told_before;
  apply_to_scenario(assignment, tree, told_before);
  return tree;
}

// A later assignment may add to what an earlier one of the same study gives, and replaces none of it.
void refuse_to_undo(const std::vector<Given>& given, const Assignment& later, Problems& problems) {
  for (const Given& earlier : given)
    if (holds(earlier.tree, later.path))
      problems.error(
          later.spot,
          fmt::format("`{}` would undo what {} sets at {}", later.path, earlier.owner,
                      to_text(earlier.spot.place())),
          "leave it out here, or there: a value that differs is a variant's or varied, and `set` of a "
          "study is for what all combinations share");
}

}  // namespace

std::vector<std::string> all_labels(const StudyPlan& plan, std::string_view column) {
  std::vector<std::string> labels;
  if (column == "variant")
    for (const StudyVariantSet& variant : plan.variants) labels.push_back(variant.name);
  for (const Axis& axis : plan.axes)
    if (axis.name == column)
      for (const AxisPoint& point : axis.points) labels.push_back(point.label);
  return labels;
}

void check_labels(const StudyPlan& plan, const std::vector<Assignment>& rule, Problems& problems) {
  for (const Assignment& entry : rule) {
    const std::vector<std::string> known = all_labels(plan, entry.path);
    if (known.empty()) refuse_unknown_axis(entry.path, plan.columns(), entry.spot, problems);
    if (known.empty()) continue;
    for (const YamlNode& label : labels_in(entry))
      if (std::ranges::count(known, label.text) == 0)
        problems.error(label.spot, fmt::format("`{}` has no label `{}`", entry.path, label.text),
                       hint_for(label.text, known, "its labels"));
  }
}

std::vector<StudyPoint> combinations(const StudyPlan& plan, const Reading& reading) {
  double count = std::max(1.0, static_cast<double>(plan.variants.size()));
  for (const Axis& axis : plan.axes) count *= static_cast<double>(axis.points.size());
  if (count > most_combinations) {
    reading.problems().error(reading.spot("vary"),
                             fmt::format("these are more than {:.0f} combinations", most_combinations),
                             "vary less, or try fewer values");
    return {};
  }
  for (const std::vector<Assignment>& rule : plan.exclude) check_labels(plan, rule, reading.problems());
  std::vector<StudyPoint> points;
  for (const StudyVariantSet& variant : plan.variants)
    points.push_back({variant.name, static_cast<std::uint32_t>(points.size()), {}});
  if (points.empty()) points.emplace_back();
  for (const Axis& axis : plan.axes) {
    std::vector<StudyPoint> longer;
    for (const StudyPoint& point : points)
      for (std::uint32_t i = 0; i < axis.points.size(); ++i) {
        longer.push_back(point);
        longer.back().name +=
            fmt::format("{}{} {}", point.name.empty() ? "" : ", ", axis.name, axis.points[i].label);
        longer.back().on_axis.push_back(i);
      }
    points = std::move(longer);
  }
  std::erase_if(points, [&](const StudyPoint& point) {
    return std::ranges::any_of(plan.exclude, [&](const auto& rule) { return covers(rule, plan, point); });
  });
  if (points.empty())
    reading.problems().error(reading.spot("exclude"), "this leaves no combination: nothing would be run",
                             "remove one of the rules, or a label from it");
  return points;
}

std::vector<std::string> StudyPlan::columns() const {
  std::vector<std::string> names;
  if (!variants.empty()) names.emplace_back("variant");
  for (const Axis& axis : axes) names.push_back(axis.name);
  return names;
}

std::vector<std::string> StudyPlan::labels(const StudyPoint& point) const {
  std::vector<std::string> labels;
  if (!variants.empty()) labels.push_back(variants[point.variant].name);
  for (std::size_t a = 0; a < axes.size(); ++a) labels.push_back(axes[a].points[point.on_axis[a]].label);
  return labels;
}

std::string StudyPlan::folder(std::size_t point) const {
  if (axes.empty()) return folder_name(points[point].name);
  // Long names are cut, and labels such as -1 and 1 look alike: a number keeps folders apart.
  return fmt::format("{:04}-{}", point + 1, folder_name(points[point].name));
}

LoadedScenario StudyPlan::scenario(const StudyPoint& point, Problems& problems) const {
  if (axes.empty()) return scenario_with(point, 0, {}, problems);
  return scenario_with(point, 0, axes.front().points[point.on_axis.front()], problems);
}

LoadedScenario StudyPlan::scenario_with(const StudyPoint& point, std::size_t axis, const AxisPoint& other,
                                        Problems& problems) const {
  AxisMeanings meanings;
  const YamlNode variant_name =
      variants.empty() ? YamlNode{}
                       : scalar_at(variants[point.variant].spot, variants[point.variant].name, true);
  if (!variants.empty()) meanings["variant"] = {variant_name.text, &variant_name};
  std::vector<const AxisPoint*> chosen;
  for (std::size_t a = 0; a < axes.size(); ++a) {
    chosen.push_back(a == axis ? &other : &axes[a].points[point.on_axis[a]]);
    meanings[axes[a].name] = {chosen.back()->label, &chosen.back()->value};
  }
  YamlNode tree = base;
  std::vector<Given> given;
  const auto apply_all = [&](const std::vector<Assignment>& assignments, const std::string& owner) {
    for (const Assignment& written : assignments) {
      const Assignment assignment = in_combination(written, meanings, problems);
      refuse_to_undo(given, assignment, problems);
      apply_to_scenario(assignment, tree, problems);
      given.push_back({owner, assignment.spot, alone(assignment)});
    }
  };
  if (!variants.empty())
    apply_all(variants[point.variant].set, fmt::format("the variant `{}`", variants[point.variant].name));
  for (std::size_t a = 0; a < axes.size(); ++a)
    apply_all(chosen[a]->set, fmt::format("`{}` in `vary`", axes[a].name));
  apply_all(set, "the study");
  for (const Assignment& assignment : overrides) apply_to_scenario(assignment, tree, problems);
  const Spot& name_spot = variants.empty() ? axes.front().spot : variants[point.variant].spot;
  apply({"name", name_spot, scalar_at(name_spot, point.name, true)}, tree, problems);
  LoadedScenario loaded = read_scenario(std::move(tree), base_file, problems);
  use_default_replications(loaded);
  return loaded;
}

std::string folder_name(std::string_view name) {
  std::string folder;
  for (const char c : name) {
    const char lower = c >= 'A' && c <= 'Z' ? static_cast<char>(c - 'A' + 'a') : c;
    const bool kept = (lower >= 'a' && lower <= 'z') || (lower >= '0' && lower <= '9');
    if (kept)
      folder += lower;
    else if (!folder.empty() && folder.back() != '-')
      folder += '-';
  }
  folder.resize(std::min(folder.size(), maximum_folder_length));
  if (folder.ends_with('-')) folder.pop_back();
  return folder.empty() ? "unnamed" : folder;
}

}  // namespace paceline

#include "sim/scenario/sweep/study_plan.hpp"

#include <algorithm>
#include <map>
#include <utility>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "sim/scenario/sweep/study_file.hpp"
#include "sim/scenario/sweep/study_parts.hpp"

namespace paceline {
namespace {

// What a study runs of each combination when nobody says: a statistical learner is cheap, and a probability
// of being faster needs that many to be worth printing.
constexpr int default_replications = 100;

void check_names(const StudyText& text, const Reading& reading) {
  std::map<std::string, std::string> name_of_folder;
  for (std::size_t i = 0; i < text.variants.size(); ++i) {
    const std::string path = fmt::format("variants.{}.name", i);
    if (!reading.is_sound(path)) continue;
    const std::string& name = text.variants[i].name;
    const auto [first, is_new] = name_of_folder.emplace(folder_name(name), name);
    if (is_new) continue;
    reading.problems().error(reading.spot(path),
                             first->second == name
                                 ? fmt::format("the variant name `{}` is already used", name)
                                 : fmt::format("`{}` and `{}` would share the results folder `{}`",
                                               first->second, name, first->first),
                             "give each variant a name of its own");
  }
}

// Refuses assignments to the key that the study itself sets.
void check_names_are_free(std::span<const Assignment> assignments, Problems& problems) {
  for (const Assignment& assignment : assignments)
    if (assignment.path == "name")
      problems.error(assignment.spot, "`name` cannot be set in a study",
                     "a scenario takes its variant's name");
}

bool names_the_same(std::string_view a, std::string_view b) {
  if (a.size() > b.size()) std::swap(a, b);
  return b.starts_with(a) && (b.size() == a.size() || b[a.size()] == '.' || b[a.size()] == '[');
}

// A combination is named after what it sets: an override of the same key would make its name untrue.
void check_keys_are_kept(std::span<const Assignment> own, std::string_view owner,
                         std::span<const Assignment> overrides, Problems& problems) {
  for (const Assignment& assignment : own)
    for (const Assignment& override_ : overrides)
      if (names_the_same(assignment.path, override_.path))
        problems.error(override_.spot, fmt::format("`{}` is what {} sets", assignment.path, owner),
                       "change the study file, or run the base scenario with `paceline run`");
}

void check_assignments(const StudyPlan& plan, Problems& problems) {
  check_names_are_free(plan.overrides, problems);
  check_names_are_free(plan.set, problems);
  for (const StudyVariantSet& variant : plan.variants) {
    check_names_are_free(variant.set, problems);
    check_keys_are_kept(variant.set, fmt::format("the variant `{}`", variant.name), plan.overrides, problems);
  }
  for (const Axis& axis : plan.axes) {
    if (axis.points.empty()) continue;
    // The points of an axis set the same keys, or are cases that each may set others.
    for (const AxisPoint& point : axis.points) {
      check_names_are_free(point.set, problems);
      check_keys_are_kept(point.set, fmt::format("`{}` in `vary`", axis.name), plan.overrides, problems);
      if (axis.key) break;
    }
  }
}

std::optional<YamlNode> parse_base(const StudyText& text, const Reading& reading) {
  if (!reading.is_sound("base")) return std::nullopt;
  if (!std::filesystem::is_regular_file(text.base)) {
    reading.problems().error(reading.spot("base"), fmt::format("there is no file {}", text.base.string()),
                             "the path is relative to the study file");
    return std::nullopt;
  }
  Problems in_base;
  std::optional<YamlNode> base = parse_yaml_file(text.base, in_base);
  for (Problem& problem : in_base.sorted()) reading.problems().add(std::move(problem));
  return base;
}

// Problems seen by some combinations. One that all see is a problem of the base.
class SharedProblems {
 public:
  void add(const std::string& combination, const Problems& problems) {
    for (const Problem& problem : problems.sorted()) {
      // A problem of one place and message is the same problem, whichever combination meets it.
      Seen& seen = by_text_[problem.render()];
      seen.problem = problem;
      if (seen.by.size() < most_named) seen.by.push_back(combination);
      ++seen.count;
    }
  }

  void move_to(Problems& problems, std::size_t combinations) {
    for (auto& [text, seen] : by_text_) {
      if (seen.count < combinations) {
        seen.problem.message += fmt::format(" (in `{}`", fmt::join(seen.by, "`, `"));
        if (seen.count > seen.by.size())
          seen.problem.message += fmt::format(" and {} more", seen.count - seen.by.size());
        seen.problem.message += ")";
      }
      problems.add(std::move(seen.problem));
    }
  }

 private:
  static constexpr std::size_t most_named = 3;
  struct Seen {
    Problem problem;
    std::vector<std::string> by;
    std::size_t count = 0;
  };
  std::map<std::string, Seen> by_text_;
};

void check_something_varies(const StudyText& text, const Reading& reading) {
  if (!text.variants.empty() || !text.vary.empty() || !reading.is_sound("variants") ||
      !reading.is_sound("vary"))
    return;
  reading.problems().error(
      reading.spot(""), "nothing is compared: neither `variants` nor `vary` is given",
      "name `variants` of the base, or `vary` its keys; one scenario alone is run by `paceline run`");
}

void check_difference(const StudyPlan& plan, const StudyFigure& figure, const Reading& reading,
                      const std::string& path) {
  if (figure.difference_from.empty()) return;
  if (!figure.recorded.empty())
    reading.problems().error(reading.spot(path + ".recorded"), "recorded values are not differences",
                             "leave out `recorded` or `difference_from`");
  std::vector<std::string> labels;
  const auto axis = std::ranges::find(plan.axes, figure.series, &Axis::name);
  if (axis != plan.axes.end())
    for (const AxisPoint& point : axis->points) labels.push_back(point.label);
  if (figure.series == "variant")
    for (const StudyVariantSet& variant : plan.variants) labels.push_back(variant.name);
  if (std::ranges::count(labels, figure.difference_from) > 0) return;
  reading.problems().error(reading.spot(path + ".difference_from"),
                           fmt::format("`{}` is no label of this figure's series", figure.difference_from),
                           labels.empty() ? "name the `series` it is one of"
                                          : fmt::format("its series: {}", fmt::join(labels, "; ")));
}

// Figures and searches name what is varied.
void check_references(const StudyPlan& plan, const Reading& reading) {
  const std::vector<std::string> columns = plan.columns();
  const auto check_name = [&](const std::string& name, const Spot& spot) {
    if (std::ranges::count(columns, name) == 0) refuse_unknown_axis(name, columns, spot, reading.problems());
  };
  for (std::size_t i = 0; i < plan.figures.size(); ++i) {
    const StudyFigure& figure = plan.figures[i];
    const std::string path = fmt::format("figures.{}", i);
    if (!reading.is_sound(path)) continue;
    check_name(figure.against, reading.spot(path + ".against"));
    if (!figure.series.empty()) check_name(figure.series, reading.spot(path + ".series"));
    for (const Assignment& where : figure.where) check_name(where.path, where.spot);
    check_difference(plan, figure, reading, path);
  }
  if (!plan.search || plan.search->method != SearchMethod::golden_section || !reading.is_sound("search"))
    return;
  const auto axis = std::ranges::find(plan.axes, plan.search->over, &Axis::name);
  if (axis == plan.axes.end()) return check_name(plan.search->over, reading.spot("search.over"));
  if (!axis->range)
    reading.problems().error(reading.spot("search.over"),
                             fmt::format("`{}` is not varied over a range", plan.search->over),
                             "golden-section tries numbers between those listed: write `range`");
}

StudyPlan plan_of(StudyText text, const std::filesystem::path& file, const Reading& reading) {
  StudyPlan plan;
  plan.name = std::move(text.study);
  plan.question = std::move(text.question);
  plan.file = file;
  plan.base_file = text.base;
  for (std::size_t i = 0; i < text.variants.size(); ++i)
    if (reading.is_sound(fmt::format("variants.{}", i)))
      plan.variants.push_back(
          {text.variants[i].name, reading.spot(fmt::format("variants.{}.name", i)), text.variants[i].set});
  plan.axes = axes_of(text, reading);
  check_axes_matter(text, plan.axes, reading);
  plan.set = text.set;
  if (text.replications) {
    const Spot spot = reading.spot("replications");
    plan.set.push_back({"replications", spot, scalar_at(spot, std::to_string(*text.replications))});
  }
  plan.figures = text.figures;
  plan.search = text.search;
  if (plan.search) plan.search->spot = reading.spot("search");
  const bool axes_are_sound =
      std::ranges::all_of(plan.axes, [](const Axis& axis) { return !axis.points.empty(); });
  const bool something_varies = !plan.variants.empty() || !plan.axes.empty();
  if (something_varies && axes_are_sound && reading.is_sound("vary") && reading.is_sound("exclude"))
    plan.points = combinations(plan.variants, plan.axes, text, reading);
  return plan;
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

}  // namespace

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
  const auto apply_all = [&](const std::vector<Assignment>& assignments) {
    for (const Assignment& assignment : assignments)
      apply(in_combination(assignment, meanings, problems), tree, problems);
  };
  if (!variants.empty()) apply_all(variants[point.variant].set);
  for (const AxisPoint* one : chosen) apply_all(one->set);
  apply_all(set);
  for (const Assignment& assignment : overrides) apply(assignment, tree, problems);
  const Spot& name_spot = variants.empty() ? axes.front().spot : variants[point.variant].spot;
  apply({"name", name_spot, scalar_at(name_spot, point.name, true)}, tree, problems);
  LoadedScenario loaded = read_scenario(tree, base_file, problems);
  use_default_replications(loaded);
  return loaded;
}

StudyPlan load_study_plan(const std::filesystem::path& file, std::span<const std::string> overrides,
                          const std::function<void(std::size_t, LoadedScenario&)>& visit) {
  Problems problems;
  const std::optional<YamlNode> root = parse_yaml_file(file, problems);
  if (!root) problems.throw_if_errors(file.string());
  StudyText text;
  Reading reading(problems);
  read_document(*root, text, reading);
  check_names(text, reading);
  check_something_varies(text, reading);
  std::optional<YamlNode> base = parse_base(text, reading);
  StudyPlan plan = plan_of(std::move(text), file, reading);
  plan.overrides = parse_overrides(overrides, problems);
  check_assignments(plan, problems);
  check_references(plan, reading);
  if (base) {
    plan.base = std::move(*base);
    SharedProblems shared;
    for (std::size_t i = 0; i < plan.points.size(); ++i) {
      Problems in_point;
      LoadedScenario loaded = plan.scenario(plan.points[i], in_point);
      shared.add(plan.points[i].name, in_point);
      if (visit && !in_point.has_errors()) visit(i, loaded);
    }
    shared.move_to(problems, plan.points.size());
  }
  problems.throw_if_errors(file.string());
  return plan;
}

}  // namespace paceline

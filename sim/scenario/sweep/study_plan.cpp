#include "sim/scenario/sweep/study_plan.hpp"

#include <algorithm>
#include <map>
#include <set>
#include <utility>

#include <fmt/format.h>
#include <fmt/ranges.h>
#include <nlohmann/json.hpp>

#include "sim/description/outputs.hpp"
#include "sim/scenario/repeated_workers.hpp"
#include "sim/scenario/sections/sections.hpp"
#include "sim/scenario/sweep/study_parts.hpp"

namespace paceline {
namespace {

void check_names(const StudyPlan& plan, const Reading& reading) {
  std::map<std::string, std::string> name_of_folder;
  for (std::size_t i = 0; i < plan.variants.size(); ++i) {
    const std::string path = fmt::format("variants.{}.name", i);
    if (!reading.is_sound(path)) continue;
    const std::string& name = plan.variants[i].name;
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

// `workers[1]` as `workers.1.`
std::string dotted(std::string path) {
  std::erase(path, ']');
  std::ranges::replace(path, '[', '.');
  return path + '.';
}

bool names_the_same(const std::string& a, const std::string& b) {
  return dotted(a).starts_with(dotted(b)) || dotted(b).starts_with(dotted(a));
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
    const std::string owner = fmt::format("the variant `{}`", variant.name);
    check_keys_are_kept(variant.set, owner, plan.overrides, problems);
  }
  // The points of an axis set the same keys, or are cases that each may set others.
  for (const Axis& axis : plan.axes)
    for (const AxisPoint& point : axis.points) {
      check_names_are_free(point.set, problems);
      const std::string owner = fmt::format("`{}` in `vary`", axis.name);
      check_keys_are_kept(point.set, owner, plan.overrides, problems);
      if (!axis.key.empty()) break;
    }
}

std::optional<YamlNode> parse_base(const StudyPlan& plan, const Reading& reading) {
  if (!reading.is_sound("base")) return std::nullopt;
  if (!std::filesystem::is_regular_file(plan.base_file)) {
    reading.problems().error(reading.spot("base"),
                             fmt::format("there is no file {}", plan.base_file.string()),
                             "the path is relative to the study file");
    return std::nullopt;
  }
  Problems in_base;
  std::optional<YamlNode> base = parse_yaml_file(plan.base_file, in_base);
  if (base) expand_repeated_workers(*base);
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
      if (seen.problem.is_idle && seen.count < combinations) continue;
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

void check_something_varies(const StudyPlan& plan, const Reading& reading) {
  if (!plan.variants.empty() || !plan.axes.empty() || !reading.is_sound("variants") ||
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
  const std::vector<std::string> labels = all_labels(plan, figure.series);
  if (std::ranges::count(labels, figure.difference_from) > 0) return;
  reading.problems().error(reading.spot(path + ".difference_from"),
                           fmt::format("`{}` is no label of this figure's series", figure.difference_from),
                           labels.empty() ? "name the `series` it is one of"
                                          : fmt::format("its series: {}", fmt::join(labels, "; ")));
}

// What `paceline plot` makes of the name is the name.
void check_file_name(const std::string& name, const Spot& spot, std::set<std::string>& used,
                     Problems& problems) {
  const auto is_kept = [](char c) {
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '-';
  };
  if (!std::ranges::all_of(name, is_kept))
    problems.error(spot, fmt::format("`{}` cannot name the files of a figure", name),
                   fmt::format("letters, digits and hyphens can, for example `{}`", folder_name(name)));
  else if (!used.insert(name).second)
    problems.error(spot, fmt::format("the name `{}` is already used by another figure", name),
                   "give each figure a name of its own");
}

// Figures and searches name what is varied.
void check_references(const StudyPlan& plan, const Reading& reading) {
  const std::vector<std::string> columns = plan.columns();
  const auto check_name = [&](const std::string& name, const Spot& spot) {
    if (std::ranges::count(columns, name) == 0) refuse_unknown_axis(name, columns, spot, reading.problems());
  };
  std::set<std::string> names;
  for (std::size_t i = 0; i < plan.figures.size(); ++i) {
    const StudyFigure& figure = plan.figures[i];
    const std::string path = fmt::format("figures.{}", i);
    if (!reading.is_sound(path)) continue;
    check_file_name(figure.name, reading.spot(path + ".name"), names, reading.problems());
    check_name(figure.against, reading.spot(path + ".against"));
    if (!figure.series.empty()) check_name(figure.series, reading.spot(path + ".series"));
    check_labels(plan, figure.where, reading.problems());
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

// What a search minimizes must be known of every combination.
void check_objective(const SearchConfig& search, const Scenario& scenario, Problems& problems) {
  const bool has_prices = std::ranges::any_of(
      scenario.cluster.workers, [](const Worker& worker) { return worker.price_per_hour.has_value(); });
  if (search.minimize == SearchObjective::time_to_accuracy && !scenario.stop.accuracy)
    problems.error(search.spot, "`search` minimizes the time to an accuracy, and nothing says to which",
                   "give `stop.accuracy`, or `minimize: core-hours` with `accuracy`");
  if (search.minimize != SearchObjective::money) return;
  if (!has_prices && !search.price_per_core_hour)
    problems.error(search.spot, "`search` minimizes money, and no worker has a `price`",
                   "for example `price: 0.90 per hour` for each of `cluster.workers`; or "
                   "`price_per_core_hour: 0.05` in `search`");
  if (has_prices && search.price_per_core_hour)
    problems.error(search.spot, "both the workers' `price` and `price_per_core_hour` say what a run costs",
                   "leave `price_per_core_hour` out: then each worker costs its `price`");
}

// Removes the items that were not read without a mistake, and completes the others.
template <class Item, class Complete>
void keep_sound(std::vector<Item>& items, const char* path, const Reading& reading, Complete complete) {
  std::vector<Item> sound;
  for (std::size_t i = 0; i < items.size(); ++i) {
    const std::string item_path = fmt::format("{}.{}", path, i);
    if (!reading.is_sound(item_path)) continue;
    complete(items[i], item_path);
    sound.push_back(std::move(items[i]));
  }
  items = std::move(sound);
}

// What follows from what is written.
void complete(StudyPlan& plan, const Reading& reading) {
  keep_sound(plan.variants, "variants", reading, [&](StudyVariantSet& variant, const std::string& path) {
    variant.spot = reading.spot(path + ".name");
  });
  keep_sound(plan.axes, "vary", reading,
             [&, names = std::set<std::string>()](Axis& axis, const std::string& path) mutable {
               complete_axis(axis, path, reading);
               if (!names.insert(axis.name).second)
                 reading.problems().error(reading.spot(path + ".name"),
                                          fmt::format("the name `{}` is already used in `vary`", axis.name),
                                          "give it another `name`");
             });
  check_axes_matter(plan, reading);
  if (plan.replications) {
    const Spot spot = reading.spot("replications");
    plan.set.push_back({"replications", spot, scalar_at(spot, std::to_string(*plan.replications))});
  }
  if (plan.search) plan.search->spot = reading.spot("search");
  const bool axes_are_sound =
      std::ranges::all_of(plan.axes, [](const Axis& axis) { return !axis.points.empty(); });
  const bool something_varies = !plan.variants.empty() || !plan.axes.empty();
  if (something_varies && axes_are_sound && reading.is_sound("vary") && reading.is_sound("exclude"))
    plan.points = combinations(plan, reading);
}

}  // namespace

StudyPlan load_study_plan(const std::filesystem::path& file, std::span<const std::string> overrides,
                          const std::function<void(std::size_t, LoadedScenario&)>& visit) {
  Problems problems;
  const std::optional<YamlNode> root = parse_yaml_file(file, problems);
  if (!root) problems.throw_if_errors(file.string());
  StudyPlan plan;
  plan.file = file;
  Reading reading(problems);
  read_document(*root, plan, reading);
  check_names(plan, reading);
  check_something_varies(plan, reading);
  std::optional<YamlNode> base = parse_base(plan, reading);
  complete(plan, reading);
  plan.overrides = parse_overrides(overrides, problems);
  check_assignments(plan, problems);
  check_references(plan, reading);
  if (base) {
    plan.base = std::move(*base);
    SharedProblems shared;
    for (std::size_t i = 0; i < plan.points.size(); ++i) {
      Problems in_point;
      LoadedScenario loaded = plan.scenario(plan.points[i], in_point);
      if (plan.search && loaded.is_sound && reading.is_sound("search"))
        check_objective(*plan.search, loaded.scenario, in_point);
      shared.add(plan.points[i].name, in_point);
      if (visit) visit(i, loaded);
    }
    shared.move_to(problems, plan.points.size());
  }
  problems.throw_if_errors(file.string());
  plan.warnings = problems.rendered_warnings();
  return plan;
}

std::vector<LoadedScenario> load_study(const std::filesystem::path& file,
                                       std::span<const std::string> overrides) {
  std::vector<LoadedScenario> scenarios;
  static_cast<void>(load_study_plan(
      file, overrides, [&](std::size_t, LoadedScenario& loaded) { scenarios.push_back(std::move(loaded)); }));
  return scenarios;
}

std::string study_schema() {
  Json schema = Json::parse(json_schema_of<StudyPlan>(
      "paceline study", "one base scenario, and the variants and values of it that are compared"));
  Scenario scenario;
  schema["definitions"]["key_path"] = {{"type", "string"},
                                       {"pattern", key_path_pattern(field_of(scenario, Section{}))}};
  const Json key_path{{"$ref", "#/definitions/key_path"}};
  Json& study = schema["properties"];
  Json& axis = study["vary"]["items"]["properties"];
  axis["key"]["pattern"] = schema["definitions"]["key_path"]["pattern"];
  for (Json* set : {&study["set"], &study["variants"]["items"]["properties"]["set"],
                    &axis["cases"]["items"]["properties"]["set"], &axis["zip"]})
    (*set)["propertyNames"] = key_path;
  return schema.dump(2) + "\n";
}

bool is_study_file(const std::filesystem::path& file) {
  Problems ignored;
  const std::optional<YamlNode> root = parse_yaml_file(file, ignored);
  if (!root) return false;
  const auto has = [&](std::string_view key) { return root->find(key) != nullptr; };
  return has("study") || has("variants") || has("vary");
}

}  // namespace paceline

#include "sim/study/study_search.hpp"

#include <algorithm>
#include <map>
#include <set>

#include <fmt/format.h>

#include "sim/base/check.hpp"
#include "sim/base/diagnostic.hpp"

namespace paceline {
namespace {

search::Objective objective_of(const SearchConfig& config) {
  search::Objective objective;
  objective.accuracy_min = config.accuracy;
  objective.price_per_core_hour = config.price_per_core_hour.value_or(0.0);
  switch (config.minimize) {
    case SearchObjective::core_hours:
      objective.minimized = search::Minimized::core_hours;
      break;
    case SearchObjective::money:
      objective.minimized = search::Minimized::money;
      break;
    case SearchObjective::time_to_accuracy:
      break;
  }
  return objective;
}

// A study whose points are tried one after the other, as a search asks for them.
class StudySearch {
 public:
  StudySearch(PreparedStudy& study, int jobs, RunStore& store)
      : study_(study), evaluator_(study, jobs, store) {}

  search::Outcome evaluate(std::size_t point, int replications) {
    return evaluator_.evaluate(point, replications);
  }

  // Another number on an axis, as a combination of its own.
  std::size_t add(const StudyPoint& like, std::size_t axis, double number) {
    Axis& varied = study_.plan.axes[axis];
    StudyPoint point = like;
    point.on_axis[axis] = static_cast<std::uint32_t>(varied.points.size());
    varied.points.push_back(varied.at(number));
    point.name = name_with(like, axis, varied.points.back().label);
    study_.plan.points.push_back(point);
    Problems problems;
    const LoadedScenario loaded = study_.plan.scenario(point, problems);
    problems.throw_if_errors(study_.plan.file.string());
    const std::size_t added = study_.add(loaded, study_.plan.labels(point));
    study_.planned.points[added].replications = 0;
    return added;
  }

  // The name of `like` with another label on the axis: names list the axes in order.
  [[nodiscard]] std::string name_with(const StudyPoint& like, std::size_t axis,
                                      const std::string& label) const {
    const std::vector<std::string> columns = study_.plan.columns();
    std::vector<std::string> labels = study_.plan.labels(like);
    std::string name;
    for (std::size_t c = 0; c < columns.size(); ++c) {
      if (columns[c] == study_.plan.axes[axis].name) labels[c] = label;
      const bool is_variant = c == 0 && columns[c] == "variant";
      if (is_variant && labels[c].empty()) continue;
      name += fmt::format("{}{}", name.empty() ? "" : ", ",
                          is_variant ? labels[c] : columns[c] + " " + labels[c]);
    }
    return name;
  }

  [[nodiscard]] const PlannedPoint& planned(std::size_t point) const { return study_.planned.points[point]; }

 private:
  PreparedStudy& study_;
  Evaluator evaluator_;
};

TriedSetting tried_setting(const PlannedPoint& point, const search::Outcome& runs,
                           const search::Objective& objective) {
  TriedSetting tried{.name = point.name,
                     .score = search::score(runs, objective),
                     .mean_accuracy = 0.0,
                     .runs = runs.size(),
                     .has_assumed_learner = point.has_assumed_learner};
  for (const search::RunOutcome& run : runs) {
    if (!run.final_accuracy) tried.mean_accuracy.reset();
    if (tried.mean_accuracy && run.final_accuracy)
      *tried.mean_accuracy += *run.final_accuracy / static_cast<double>(runs.size());
  }
  return tried;
}

template <class PointOf>
SearchReport report_of(const search::Found& found, const search::Trials& trials,
                       const search::Objective& objective, const PointOf& point_of) {
  SearchReport report;
  for (const search::Tried& tried : trials.tried())
    report.tried.push_back(tried_setting(point_of(tried.setting), tried.runs, objective));
  std::ranges::stable_sort(report.tried, [](const TriedSetting& a, const TriedSetting& b) {
    return search::is_better(a.score, b.score);
  });
  if (found.setting) report.best = point_of(*found.setting).name;
  report.cost = trials.cost();
  return report;
}

SearchReport search_list(const SearchConfig& config, std::size_t points, StudySearch& tried) {
  std::vector<double> settings;
  for (std::size_t i = 0; i < points; ++i) settings.push_back(static_cast<double>(i));
  const auto index = [](double setting) { return static_cast<std::size_t>(setting); };
  search::Trials trials(
      [&](double setting, int replications) { return tried.evaluate(index(setting), replications); });
  const search::Objective objective = objective_of(config);
  const search::Found found =
      config.method == SearchMethod::exhaustive
          ? search::exhaustive(settings, config.replications, objective, trials)
          : search::successive_halving(settings,
                                       {.first_replications = config.first_replications,
                                        .replications = config.replications,
                                        .keep_one_of = config.keep_one_of},
                                       objective, trials);
  return report_of(found, trials, objective,
                   [&](double setting) -> const PlannedPoint& { return tried.planned(index(setting)); });
}

SearchReport search_line(const SearchConfig& config, const StudyPoint& like, std::size_t axis,
                         const AxisRange& range, StudySearch& tried) {
  std::map<double, std::size_t> point_of;
  search::Trials trials([&](double setting, int replications) {
    const auto known = point_of.find(setting);
    const std::size_t point = known != point_of.end()
                                  ? known->second
                                  : point_of.emplace(setting, tried.add(like, axis, setting)).first->second;
    return tried.evaluate(point, replications);
  });
  constexpr double default_share = 0.01;
  const search::Line line{range.from, range.to,
                          config.tolerance.value_or(default_share * (range.to - range.from)), range.whole};
  const search::Objective objective = objective_of(config);
  const search::Found found = search::golden_section(line, config.replications, objective, trials);
  return report_of(found, trials, objective, [&](double setting) -> const PlannedPoint& {
    return tried.planned(point_of.at(setting));
  });
}

// What a point is, but for the axis that is searched along.
std::string everything_else(const StudyPlan& plan, const StudyPoint& point, const std::string& over) {
  const std::vector<std::string> labels = plan.labels(point);
  const std::vector<std::string> columns = plan.columns();
  std::string text;
  for (std::size_t c = 0; c < columns.size(); ++c)
    if (columns[c] != over) text += fmt::format("{}{} {}", text.empty() ? "" : ", ", columns[c], labels[c]);
  return text;
}

void check_has_targets(const PreparedStudy& study, const SearchConfig& config) {
  if (config.minimize != SearchObjective::time_to_accuracy) return;
  for (const PlannedPoint& point : study.planned.points)
    if (!point.target_accuracy)
      throw UserError(fmt::format("{}: `search` minimizes the time to an accuracy, but `{}` has no target",
                                  study.plan.file.string(), point.name),
                      "give `stop.accuracy`, or `minimize: core-hours` with `accuracy`");
}

}  // namespace

Evaluator::Evaluator(PreparedStudy& study, int jobs, RunStore& store)
    : study_(study), jobs_(jobs), store_(store) {
  // Only what is asked for belongs to the search.
  for (PlannedPoint& point : study_.planned.points) point.replications = 0;
}

search::Outcome Evaluator::evaluate(std::size_t point, int replications) {
  PlannedPoint& planned = study_.planned.points[point];
  planned.replications = std::max(planned.replications, replications);
  const std::set<std::string> done = store_.done();
  std::vector<PlannedRun> runs;
  for (std::uint32_t r = 0; r < static_cast<std::uint32_t>(replications); ++r)
    if (std::string id = run_id(planned.digest, r); !done.contains(id))
      runs.push_back({point, r, std::move(id)});
  run_into_store(study_, runs, {.jobs = jobs_}, store_);
  search::Outcome outcome;
  for (std::uint32_t r = 0; r < static_cast<std::uint32_t>(replications); ++r) {
    const std::optional<StoredRun> run = store_.find(run_id(planned.digest, r));
    check(run.has_value(), "a run that was carried out is in the store");
    if (!run->summary)
      throw SimulationFailed(fmt::format("{}, replication {}: {}", planned.name, r, run->message));
    const RunSummary& summary = *run->summary;
    outcome.push_back({.time_to_target_s = summary.time_to_accuracy
                                               ? std::optional(summary.time_to_accuracy->value())
                                               : std::nullopt,
                       .end_time_s = summary.end_time.value(),
                       .final_accuracy = summary.final_accuracy,
                       .core_hours = summary.core_hours});
  }
  return outcome;
}

std::vector<SearchReport> search_study(PreparedStudy& study, int jobs, RunStore& store) {
  if (!study.plan.search)
    throw UserError(fmt::format("{} has no `search`", study.plan.file.string()),
                    "say what to look for: search: {method: exhaustive, minimize: time-to-accuracy}");
  const SearchConfig config = *study.plan.search;
  check_has_targets(study, config);
  StudySearch tried(study, jobs, store);
  if (config.method != SearchMethod::golden_section)
    return {search_list(config, study.plan.points.size(), tried)};
  const auto found = std::ranges::find(study.plan.axes, config.over, &Axis::name);
  check(found != study.plan.axes.end() && found->range, "a search along a range that was checked");
  const auto axis = static_cast<std::size_t>(found - study.plan.axes.begin());
  const AxisRange range = *found->range;
  const std::vector<StudyPoint> points = study.plan.points;
  std::vector<SearchReport> reports;
  std::set<std::string> searched;
  for (const StudyPoint& point : points) {
    // The first point of everything else stands for it; the range itself is searched.
    if (!searched.insert(everything_else(study.plan, point, config.over)).second) continue;
    reports.push_back(search_line(config, point, axis, range, tried));
    reports.back().of = everything_else(study.plan, point, config.over);
  }
  return reports;
}

}  // namespace paceline

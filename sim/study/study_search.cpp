#include "sim/study/study_search.hpp"

#include <algorithm>
#include <map>
#include <set>

#include <fmt/format.h>

#include "sim/base/check.hpp"
#include "sim/base/diagnostic.hpp"
#include "sim/report/statistics/comparison.hpp"

namespace paceline {
namespace {

// "variant, column label, ...", but for the column `over`.
std::string name_of_labels(const std::vector<std::string>& columns, const std::vector<std::string>& labels,
                           bool names_variant_alone, const std::string& over = {}) {
  std::string name;
  for (std::size_t c = 0; c < columns.size(); ++c) {
    const bool is_variant = names_variant_alone && c == 0 && columns[c] == "variant";
    if (columns[c] == over || (is_variant && labels[c].empty())) continue;
    name +=
        fmt::format("{}{}", name.empty() ? "" : ", ", is_variant ? labels[c] : columns[c] + " " + labels[c]);
  }
  return name;
}

// A study whose combinations are tried one after the other, as a search asks for them.
class StudySearch {
 public:
  StudySearch(PreparedStudy& study, int jobs, RunStore& store)
      : study_(study), config_(*study.plan.search), jobs_(jobs), store_(store) {
    // Only what is asked for belongs to the search.
    for (PlannedPoint& point : study_.planned.points) point.replications = 0;
  }

  SearchReport among_all() {
    std::vector<double> settings;
    for (std::size_t i = 0; i < study_.plan.points.size(); ++i) settings.push_back(static_cast<double>(i));
    const auto point_of = [](double setting) { return static_cast<std::size_t>(setting); };
    search::Trials trials([&](double setting, int runs) { return evaluate(point_of(setting), runs); });
    const search::Found found = config_.method == SearchMethod::exhaustive
                                    ? search::exhaustive(settings, config_, trials)
                                    : search::successive_halving(settings, config_, trials);
    return report_of(found, trials, point_of);
  }

  // `like`: everything but the place on the axis.
  SearchReport along(const StudyPoint& like, std::size_t axis, const AxisRange& range) {
    std::map<double, std::size_t> points;
    const auto point_of = [&](double setting) {
      const auto known = points.find(setting);
      return known != points.end() ? known->second
                                   : points.emplace(setting, add(like, axis, setting)).first->second;
    };
    search::Trials trials([&](double setting, int runs) { return evaluate(point_of(setting), runs); });
    const search::Found found = search::golden_section(range, config_, trials);
    return report_of(found, trials, point_of);
  }

 private:
  search::Outcome evaluate(std::size_t point, int replications) {
    PlannedPoint& planned = study_.planned.points[point];
    planned.replications = std::max(planned.replications, replications);
    const std::set<std::string> done = store_.done();
    std::vector<PlannedRun> runs;
    std::vector<std::string> ids;
    for (std::uint32_t r = 0; r < static_cast<std::uint32_t>(replications); ++r) {
      ids.push_back(run_id(planned.digest, r));
      if (!done.contains(ids.back())) runs.push_back({point, r, ids.back()});
    }
    run_into_store(study_, runs, {.jobs = jobs_}, store_);
    search::Outcome outcome;
    for (const std::string& id : ids) {
      const std::optional<StoredRun> run = store_.find(id);
      check(run.has_value(), "a run that was carried out is in the store");
      if (!run->summary)
        throw SimulationFailed(
            fmt::format("{}, replication {}: {}", planned.name, outcome.size(), run->message));
      outcome.emplace_back(*run->summary, cost_of(planned, run->summary->end_time));
    }
    return outcome;
  }

  // Another number on an axis, as a combination of its own.
  std::size_t add(const StudyPoint& like, std::size_t axis, double number) {
    Axis& varied = study_.plan.axes[axis];
    StudyPoint point = like;
    point.on_axis[axis] = static_cast<std::uint32_t>(varied.points.size());
    varied.points.push_back(varied.at(number));
    point.name = name_of_labels(study_.plan.columns(), study_.plan.labels(point), true);
    study_.plan.points.push_back(point);
    Problems problems;
    const LoadedScenario loaded = study_.plan.scenario(point, problems);
    problems.throw_if_errors(study_.plan.file.string());
    const std::size_t added = study_.add(loaded, study_.plan.labels(point));
    study_.planned.points[added].replications = 0;
    return added;
  }

  template <class PointOf>
  SearchReport report_of(const search::Found& found, const search::Trials& trials, const PointOf& point_of) {
    SearchReport report{.of = {}, .tried = {}, .best = {}, .cost = trials.cost()};
    const auto best = std::ranges::find_if(
        trials.tried(), [&](const search::Tried& tried) { return tried.setting == found.setting; });
    for (const search::Tried& tried : trials.tried()) {
      const PlannedPoint& point = study_.planned.points[point_of(tried.setting)];
      std::optional<double> accuracy = 0.0;
      for (const search::Run& run : tried.runs)
        accuracy =
            accuracy && run.final_accuracy
                ? std::optional(*accuracy + *run.final_accuracy / static_cast<double>(tried.runs.size()))
                : std::nullopt;
      report.tried.push_back(
          {point.name, search::score(tried.runs, config_), accuracy, tried.runs.size(),
           point.has_assumed_learner,
           best != trials.tried().end() && search::are_alike(best->runs, tried.runs, config_)});
    }
    std::ranges::stable_sort(report.tried, search::is_better, &TriedSetting::score);
    if (found.setting) report.best = study_.planned.points[point_of(*found.setting)].name;
    return report;
  }

  PreparedStudy& study_;
  const SearchConfig config_;
  int jobs_;
  RunStore& store_;
};

}  // namespace

std::vector<SearchReport> search_study(PreparedStudy& study, int jobs, RunStore& store) {
  check(study.plan.search.has_value(), "a study that is searched says what for");
  const SearchConfig config = *study.plan.search;
  StudySearch search(study, jobs, store);
  if (config.method != SearchMethod::golden_section) return {search.among_all()};
  const auto found = std::ranges::find(study.plan.axes, config.over, &Axis::name);
  check(found != study.plan.axes.end() && found->range, "a search along a range that was checked");
  const auto axis = static_cast<std::size_t>(found - study.plan.axes.begin());
  const AxisRange range = *found->range;
  const std::vector<StudyPoint> points = study.plan.points;
  std::vector<SearchReport> reports;
  std::set<std::string> searched;
  for (const StudyPoint& point : points) {
    // The first point of everything else stands for it; the range itself is searched.
    std::string everything_else =
        name_of_labels(study.plan.columns(), study.plan.labels(point), false, config.over);
    if (!searched.insert(everything_else).second) continue;
    reports.push_back(search.along(point, axis, range));
    reports.back().of = std::move(everything_else);
  }
  return reports;
}

}  // namespace paceline

#include "sim/study/prepared_study.hpp"

#include <algorithm>
#include <utility>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "sim/base/check.hpp"
#include "sim/base/diagnostic.hpp"
#include "sim/report/output/record_columns.hpp"
#include "sim/report/statistics/run_summary.hpp"
#include "sim/study/checks_before_running.hpp"

namespace paceline {
namespace {

using nlohmann::json;

void add_once(std::vector<std::string>& texts, const std::vector<std::string>& more) {
  for (const std::string& text : more)
    if (std::ranges::find(texts, text) == texts.end()) texts.push_back(text);
}

std::string policy_text(const LoadedScenario& loaded) {
  std::string text;
  for (const ResolvedValue& value : loaded.values)
    if (value.key.starts_with("synchronization.") && value.key.ends_with(".policy"))
      text += fmt::format("{}{}", text.empty() ? "" : ", then ", value.value);
  return text;
}

json figures_json(const std::vector<StudyFigure>& figures) {
  json all = json::array();
  for (const StudyFigure& figure : figures) {
    json where = json::object();
    for (const Assignment& assignment : figure.where) {
      json& labels = where[assignment.path] = json::array();
      for (const YamlNode& label : assignment.value.items) labels.push_back(label.text);
      if (assignment.value.kind != YamlNode::Kind::list) labels.push_back(assignment.value.text);
    }
    all.push_back({{"name", figure.name},
                   {"metric", figure.metric},
                   {"against", figure.against},
                   {"series", figure.series},
                   {"where", std::move(where)},
                   {"recorded", figure.recorded.string()},
                   {"difference_from", figure.difference_from}});
  }
  return all;
}

void check_figures(const StudyPlan& plan) {
  // Columns of runs.csv that hold numbers.
  std::vector<std::string> known = names_of(summary_columns());
  std::erase(known, "end_reason");
  known.emplace_back("cost_to_target");
  for (std::size_t i = 0; i < plan.figures.size(); ++i) {
    const std::string& metric = plan.figures[i].metric;
    if (std::ranges::find(known, metric) != known.end()) continue;
    const std::optional<std::string> likely = closest(metric, known);
    throw UserError(
        fmt::format("{}: figures.{}.metric: there is no metric `{}`", plan.file.string(), i, metric),
        likely ? fmt::format("did you mean `{}`?", *likely)
               : fmt::format("metrics: {}", fmt::join(known, ", ")));
  }
}

// What a job meets, whatever its user chooses.
bool is_condition(std::string_view key) {
  constexpr std::string_view met[] = {
      "cluster.",    "heterogeneity.", "jitter.",  "coordination.", "communication.", "job.network",
      "job.profile", "job.dataset",    "learner.", "stop.",         "seed",           "checkpoints",
      "start_up",    "evaluation.",    "ramp_up",  "resume",        "prediction."};
  return std::ranges::any_of(met, [&](std::string_view prefix) {
    return key.starts_with(prefix) || fmt::format("{}.", key) == prefix;
  });
}

// Columns of what sets conditions alone.
std::vector<std::string> conditions_of(const StudyPlan& plan) {
  std::vector<std::string> conditions;
  const auto all_are_met = [](const auto& sets) {
    bool any = false;
    for (const Assignment& assignment : sets) {
      any = true;
      if (!is_condition(assignment.path)) return false;
    }
    return any;
  };
  std::vector<Assignment> of_variants;
  for (const StudyVariantSet& variant : plan.variants)
    of_variants.insert(of_variants.end(), variant.set.begin(), variant.set.end());
  if (all_are_met(of_variants)) conditions.emplace_back("variant");
  for (const Axis& axis : plan.axes) {
    std::vector<Assignment> sets;
    if (!axis.key.empty()) sets.push_back({axis.key, {}, {}});
    for (const AxisPoint& point : axis.points) sets.insert(sets.end(), point.set.begin(), point.set.end());
    if (all_are_met(sets)) conditions.push_back(axis.name);
  }
  return conditions;
}

}  // namespace

void Notes::add(const std::vector<std::string>& texts, std::size_t runs) {
  for (const std::string& text : texts) {
    const auto known = std::ranges::find(texts_, text, &std::pair<std::string, std::size_t>::first);
    if (known == texts_.end())
      texts_.emplace_back(text, runs);
    else if (known->second != all)
      known->second = runs == all ? all : known->second + runs;
  }
}

void Notes::add(const Notes& more) {
  for (const auto& [text, runs] : more.texts_) add(std::vector{text}, runs);
}

std::vector<std::string> Notes::lines(std::size_t runs) const {
  std::vector<std::string> lines;
  for (const auto& [text, about] : texts_)
    lines.push_back(about == all || about >= runs ? text
                                                  : fmt::format("{} ({} of {} runs)", text, about, runs));
  return lines;
}

LoadedScenario PreparedStudy::scenario(std::size_t point) const {
  if (!scenarios.empty()) return scenarios[point];
  Problems problems;
  LoadedScenario loaded = plan.scenario(plan.points[point], problems);
  check(!problems.has_errors(), "a combination that was checked is sound");
  return loaded;
}

std::size_t PreparedStudy::add(const LoadedScenario& loaded, std::vector<std::string> labels) {
  const Scenario& scenario = loaded.scenario;
  const std::size_t number = planned.points.size();
  notes.add(check_before_running(loaded, files, use), static_cast<std::size_t>(scenario.replications));
  add_evidence(loaded, files, use, evidence);
  for (const ResolvedValue& value : loaded.values)
    expects = expects || (!value.is_absent && value.key.starts_with("expect."));
  if (scenario.learner.kind == LearnerKind::network) network_points.insert(number);
  if (number == 0) network_model = network_model_of(scenario);
  PlannedPoint& point = planned.points.emplace_back();
  static_cast<Comparable&>(point) = comparable_of(scenario);
  point.validity = validity_of(loaded, files);
  point.labels = std::move(labels);
  point.digest = scenario_digest(loaded, files, use == ProfileUse::drawn);
  point.replications = scenario.replications;
  point.seed = scenario.seed;
  point.policy = policy_text(loaded);
  point.learning_rate = scenario.job.optimizer.learning_rate;
  point.momentum = scenario.job.optimizer.momentum;
  point.learns = scenario.learner.kind != LearnerKind::none;
  return number;
}

PreparedStudy prepare_study(const std::filesystem::path& file, const std::vector<std::string>& overrides,
                            ProfileUse use) {
  PreparedStudy study;
  study.use = use;
  UserErrors mistakes;
  const auto add = [&](std::size_t, const LoadedScenario& loaded) {
    mistakes.attempt(
        [&] { loaded.is_sound ? static_cast<void>(study.add(loaded)) : check_files(loaded, study.files); });
  };
  mistakes.attempt([&] {
    study.plan = load_study_plan(file, overrides, add);
    study.warnings = study.plan.warnings;
    check_figures(study.plan);
  });
  mistakes.throw_if_any();
  study.planned.name = study.plan.name;
  study.planned.question = study.plan.question;
  study.planned.columns = study.plan.columns();
  study.planned.conditions = conditions_of(study.plan);
  study.planned.figures =
      figures_json(study.plan.figures).dump(-1, ' ', false, json::error_handler_t::replace);
  for (std::size_t i = 0; i < study.planned.points.size(); ++i)
    study.planned.points[i].labels = study.plan.labels(study.plan.points[i]);
  return study;
}

PreparedStudy prepare_scenario(const std::filesystem::path& file, const std::vector<std::string>& overrides,
                               ProfileUse use) {
  Problems problems;
  std::optional<LoadedScenario> loaded = read_scenario_file(file, overrides, problems);
  if (loaded && loaded->is_sound) return prepare_scenarios({std::move(*loaded)}, use);
  UserErrors mistakes;
  InputFiles files;
  if (loaded) mistakes.attempt([&] { check_files(*loaded, files); });
  mistakes.attempt([&] { problems.throw_if_errors(file.string()); });
  mistakes.throw_if_any();
  return {};
}

PreparedStudy prepare_scenarios(std::vector<LoadedScenario> scenarios, ProfileUse use) {
  PreparedStudy study;
  study.use = use;
  for (const LoadedScenario& loaded : scenarios) {
    study.add(loaded);
    add_once(study.warnings, loaded.warnings);
  }
  study.scenarios = std::move(scenarios);
  return study;
}

}  // namespace paceline

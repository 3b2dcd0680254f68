#include "sim/study/study_runs.hpp"

#include <algorithm>
#include <cstdio>
#include <iterator>
#include <tuple>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "sim/base/check.hpp"
#include "sim/base/diagnostic.hpp"
#include "sim/base/interrupt.hpp"
#include "sim/base/progress.hpp"
#include "sim/learning/network_learner.hpp"
#include "sim/report/output/build_info.hpp"
#include "sim/report/output/packed_run.hpp"
#include "sim/report/output/record_columns.hpp"
#include "sim/report/output/text_table.hpp"
#include "sim/report/statistics/remarks.hpp"
#include "sim/study/checks_before_running.hpp"
#include "sim/study/pool/process_pool.hpp"
#include "sim/study/simulation.hpp"

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

std::string message_about(const Scenario& scenario, InputFiles& files, const RunResult& run) {
  if (!run.stall.empty())
    return fmt::format("the job stalled at {}\n{}", format_time(run.end_time), run.stall);
  return fmt::format("{}", fmt::join(notes_after(scenario, {run}, files).lines(1), "; "));
}

// Which network and which data do not go together is known where both are loaded, which has no places.
template <class Work>
auto at_learner(const LoadedScenario& loaded, const Work& work) {
  try {
    return work();
  } catch (const UserError& error) {
    if (loaded.scenario.learner.kind != LearnerKind::network) throw;
    throw UserError(fmt::format("{}: {}", origin_of(loaded, "learner.kind"), error.what()));
  }
}

// In a process of its own.
std::string simulate_packed(PreparedStudy& study, const PlannedRun& run, const RunOptions& options) {
  const LoadedScenario loaded = study.scenario(run.point);
  const RunResult result = at_learner(loaded, [&] {
    return simulate(loaded.scenario, *study.files.profiles_of(loaded), run.replication, options.recording,
                    study.use);
  });
  return pack(FinishedRun{.summary = summary_of(result),
                          .message = message_about(loaded.scenario, study.files, result),
                          .packed = options.keep_whole ? pack(result) : std::string()});
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

std::vector<PlannedRun> missing_runs(const PlannedStudy& study, const std::set<std::string>& done,
                                     const std::optional<Shard>& shard) {
  std::vector<PlannedRun> runs;
  std::set<std::string> listed;
  std::size_t position = 0;
  bool more = true;
  for (std::uint32_t r = 0; more; ++r) {
    more = false;
    for (std::size_t p = 0; p < study.points.size(); ++p) {
      if (r >= static_cast<std::uint32_t>(study.points[p].replications)) continue;
      more = true;
      std::string id = run_id(study.points[p].digest, r);
      // Combinations of equal content share their runs: the first one is simulated.
      if (!listed.insert(id).second) continue;
      const bool is_ours = !shard || position % shard->count == shard->index - 1;
      ++position;
      if (is_ours && !done.contains(id)) runs.push_back({p, r, std::move(id)});
    }
  }
  return runs;
}

std::string packed_by(const RecordingOptions& recording) {
  return fmt::format("{}{}{}", build_info().commit, recording.iterations ? " iterations" : "",
                     recording.trace ? " trace" : "");
}

double run_into_store(PreparedStudy& study, const std::vector<PlannedRun>& runs, const RunOptions& options,
                      RunStore& store) {
  const bool trains_networks = std::ranges::any_of(
      runs, [&](const PlannedRun& run) { return study.network_points.contains(run.point); });
  if (trains_networks) require_network_module();
  Progress progress("simulating");
  std::size_t finished = 0;
  std::size_t failed = 0;
  const auto show = [&] {
    progress.update(
        static_cast<double>(finished) / static_cast<double>(std::max<std::size_t>(1, runs.size())),
        fmt::format("{} of {} runs{}", finished, runs.size(),
                    failed > 0 ? fmt::format(", {} failed", failed) : ""));
  };
  if (!runs.empty()) show();
  return run_in_processes(
      runs.size(), options.jobs,
      [&](std::size_t i) {
        RunOptions of_run = options;
        of_run.recording.iterations &= options.keep_whole;
        of_run.recording.trace &= options.keep_whole && runs[i].replication == options.traced;
        return simulate_packed(study, runs[i], of_run);
      },
      [&](std::size_t i, const TaskOutcome& outcome) {
        StoredRun run{.id = runs[i].id, .status = RunStatus::done, .message = {}, .summary = {}};
        if (outcome.status == TaskStatus::done) {
          FinishedRun done = unpack_finished(outcome.output);
          run.message = std::move(done.message);
          run.summary = std::move(done.summary);
          store.record(run, done.packed, packed_by(options.recording));
        } else {
          if (options.throws_mistakes && outcome.status == TaskStatus::user_error)
            throw UserError(outcome.output);
          run.status = RunStatus::failed;
          run.message = outcome.output;
          store.record(run);
          ++failed;
        }
        ++finished;
        show();
      },
      show);
}

std::vector<ScenarioResults> whole_results(PreparedStudy& study, const RecordingOptions& recording,
                                           RunStore& store) {
  std::vector<ScenarioResults> all;
  for (std::size_t p = 0; p < study.planned.points.size(); ++p) {
    LoadedScenario loaded = study.scenario(p);
    std::vector<std::string> notes = check_before_running(loaded, study.files, study.use);
    std::vector<std::string> network_model = network_model_of(loaded.scenario);
    const std::shared_ptr<const Profiles> profiles = study.files.profiles_of(loaded);
    std::vector<ValidityRow> validity = validity_of(loaded, study.files);
    Evidence evidence;
    add_evidence(loaded, study.files, study.use, evidence);
    all.push_back({.loaded = std::move(loaded),
                   .profiles = *profiles,
                   .runs = {},
                   .failures = {},
                   .network_model = std::move(network_model),
                   .notes = std::move(notes),
                   .validity = std::move(validity),
                   .evidence = sentences_of(evidence),
                   .recording = recording,
                   .combination = study.planned.points[p].digest});
  }
  store.for_each_run([&](const StoredRun& run) {
    ScenarioResults& results = all[run.point];
    if (run.status == RunStatus::done) {
      results.runs.push_back(unpack_result(store.packed(run.id)));
    } else if (run.status == RunStatus::failed) {
      results.failures.push_back(fmt::format("replication {}: {}", run.replication, run.message));
    }
  });
  for (ScenarioResults& results : all) {
    const Notes after = notes_after(results.loaded.scenario, results.runs, study.files);
    std::ranges::move(after.lines(results.runs.size()), std::back_inserter(results.notes));
    results.validity = validity_in(summaries_of(results.runs), std::move(results.validity));
  }
  return all;
}

WholeRuns run_whole(PreparedStudy& study, const std::vector<PlannedRun>& runs, int jobs,
                    const RecordingOptions& recording, const std::filesystem::path& unfinished) {
  RunStore store(in_memory);
  store.write_plan(study.planned);
  std::error_code ignored;
  if (!unfinished.empty() && std::filesystem::exists(unfinished, ignored)) store.merge(unfinished);
  const std::set<std::string> done = store.done(packed_by(recording));
  std::vector<PlannedRun> missing = runs;
  std::erase_if(missing, [&](const PlannedRun& run) { return done.contains(run.id); });
  if (missing.size() < runs.size())
    fmt::print(stderr, "{} of {} replications are there already\n", runs.size() - missing.size(),
               runs.size());
  double memory_mib = 0.0;
  try {
    memory_mib = run_into_store(study, missing,
                                {.jobs = jobs,
                                 .keep_whole = true,
                                 .recording = recording,
                                 .traced = runs.front().replication,
                                 .throws_mistakes = true},
                                store);
  } catch (const Interrupted& interrupt) {
    const std::size_t kept = store.counts().done;
    if (unfinished.empty() || kept == 0) throw;
    store.save(unfinished);
    throw Interrupted(
        interrupt.signal_number(),
        fmt::format("interrupted: {} of {} replications are kept in {}; the same command runs the others",
                    kept, runs.size(), unfinished.string()));
  }
  WholeRuns whole{whole_results(study, recording, store), memory_mib};
  for (const ScenarioResults& results : whole.variants)
    if (results.runs.empty() && !results.failures.empty())
      throw SimulationFailed(fmt::format("{}: no run could be carried out; {}", results.loaded.scenario.name,
                                         results.failures.front()));
  return whole;
}

Notes notes_after(const Scenario& scenario, const std::vector<RunResult>& runs, InputFiles& files) {
  Notes notes;
  notes.add(alarm_notes(scenario, runs), runs.size());
  if (uses_model(scenario))
    for (const RunResult& run : runs)
      notes.add(staleness_notes(files.learner(scenario.learner.model), run), 1);
  return notes;
}

void try_network_learners(PreparedStudy& study) {
  std::vector<LoadedScenario> tried;
  const auto is_same = [](const Scenario& a, const Scenario& b) {
    const DatasetSource& x = a.job.dataset;
    const DatasetSource& y = b.job.dataset;
    return std::tie(a.job.network, a.learner.model, x.kind, x.path, x.train_samples, x.test_samples) ==
           std::tie(b.job.network, b.learner.model, y.kind, y.path, y.train_samples, y.test_samples);
  };
  for (const std::size_t point : study.network_points) {
    LoadedScenario loaded = study.scenario(point);
    const auto known = [&](const LoadedScenario& other) { return is_same(loaded.scenario, other.scenario); };
    if (std::ranges::none_of(tried, known)) tried.push_back(std::move(loaded));
  }
  if (tried.empty()) return;
  require_network_module();
  UserErrors mistakes;
  run_in_processes(
      tried.size(), 1,
      [&](std::size_t i) {
        const Scenario& scenario = tried[i].scenario;
        at_learner(tried[i], [&] { return build_learner(scenario, scenario.cluster.servers.count, {}); });
        return std::string();
      },
      [&](std::size_t, const TaskOutcome& outcome) {
        if (outcome.status == TaskStatus::user_error)
          mistakes.attempt([&] { throw UserError(outcome.output); });
      });
  mistakes.throw_if_any();
}

}  // namespace paceline

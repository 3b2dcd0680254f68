#include "sim/study/study_runs.hpp"

#include <algorithm>
#include <charconv>

#include <fmt/format.h>
#include <fmt/ranges.h>
#include <nlohmann/json.hpp>

#include "sim/base/check.hpp"
#include "sim/base/diagnostic.hpp"
#include "sim/base/progress.hpp"
#include "sim/engine/simgrid/simgrid_timeline.hpp"
#include "sim/learning/network_learner.hpp"
#include "sim/report/output/build_info.hpp"
#include "sim/report/output/columns.hpp"
#include "sim/report/output/run_tables.hpp"
#include "sim/report/output/time_text.hpp"
#include "sim/study/notes_after_runs.hpp"
#include "sim/study/pool/process_pool.hpp"

namespace paceline {
namespace {

using nlohmann::json;

constexpr double seconds_per_hour = 3600.0;

void add_once(std::vector<std::string>& texts, std::string text) {
  if (std::ranges::find(texts, text) == texts.end()) texts.push_back(std::move(text));
}

std::string policy_text(const LoadedScenario& loaded) {
  std::string text;
  for (const ResolvedValue& value : loaded.values)
    if (value.key.starts_with("synchronization.") && value.key.ends_with(".policy"))
      text += fmt::format("{}{}", text.empty() ? "" : ", then ", value.value);
  return text;
}

// A number as a number, so that SQL can compare it; text as text; nothing as nothing.
sqlite::Cell cell_of(const std::string& text) {
  if (text.empty()) return std::monostate{};
  const char* end = text.data() + text.size();
  std::int64_t whole = 0;
  if (const auto parsed = std::from_chars(text.data(), end, whole);
      parsed.ec == std::errc{} && parsed.ptr == end)
    return whole;
  double number = 0.0;
  if (const auto parsed = std::from_chars(text.data(), end, number);
      parsed.ec == std::errc{} && parsed.ptr == end)
    return number;
  return text;
}

std::vector<sqlite::Cell> metrics_of(const RunResult& run, double cores) {
  const std::vector<std::string> columns = columns_of("summary.csv");
  const std::vector<std::string> cells = summary_cells(run);
  check(cells.size() == columns.size(), "a row of summary.csv has a cell for each column");
  std::vector<sqlite::Cell> metrics;
  for (std::size_t c = 0; c < columns.size(); ++c)
    if (columns[c] != "replication" && columns[c] != "seed") metrics.push_back(cell_of(cells[c]));
  metrics.push_back(run.evaluation_interval().value());
  metrics.push_back(cores * run.end_time.value() / seconds_per_hour);
  return metrics;
}

json to_json(const sqlite::Cell& cell) {
  if (const auto* whole = std::get_if<std::int64_t>(&cell)) return *whole;
  if (const auto* number = std::get_if<double>(&cell)) return *number;
  if (const auto* text = std::get_if<std::string>(&cell)) return *text;
  return nullptr;
}
sqlite::Cell cell_of(const json& j) {
  if (j.is_number_integer()) return j.get<std::int64_t>();
  if (j.is_number()) return j.get<double>();
  if (j.is_string()) return j.get<std::string>();
  return std::monostate{};
}

// What travels from a child to its parent.
std::string pack_outcome(const RunResult& run, double cores, bool keep_whole, const std::string& message) {
  json cells = json::array();
  for (const sqlite::Cell& cell : metrics_of(run, cores)) cells.push_back(to_json(cell));
  json outcome = {{"metrics", std::move(cells)}, {"message", message}};
  if (keep_whole) {
    const std::string whole = pack(run);
    outcome["packed"] = json::binary({whole.begin(), whole.end()});
  }
  std::string packed;
  json::to_cbor(outcome, packed);
  return packed;
}

FinishedRun unpack_outcome(const std::string& id, const std::string& packed) {
  const json outcome = json::from_cbor(packed);
  FinishedRun run{.id = id,
                  .status = RunStatus::done,
                  .message = outcome.at("message"),
                  .metrics = {},
                  .packed = {},
                  .packed_by = {}};
  for (const json& cell : outcome.at("metrics")) run.metrics.push_back(cell_of(cell));
  if (outcome.contains("packed")) {
    const auto& bytes = outcome.at("packed").get_binary();
    run.packed.assign(bytes.begin(), bytes.end());
  }
  return run;
}

std::string what_is_to_be_said(const Scenario& scenario, InputFiles& files, const RunResult& run) {
  if (!run.stall.empty())
    return fmt::format("the job stalled at {}\n{}", format_time(run.end_time), run.stall);
  std::string text;
  for (const std::string& note : notes_after(scenario, {run}, files))
    text += (text.empty() ? "" : "; ") + note;
  return text;
}

std::string simulate_packed(PreparedStudy& study, const PlannedRun& run, const RunOptions& options) {
  const LoadedScenario loaded = study.scenario(run.point);
  const std::shared_ptr<const Profiles> profiles = study.files.profiles_of(loaded);
  // A trace shows one run; the first replication stands for the others.
  const RecordingOptions recording{options.keep_whole && options.recording.iterations,
                                   options.keep_whole && options.recording.trace && run.replication == 0};
  const RunResult result = simulate(loaded.scenario, *profiles, run.replication, recording, study.use);
  return pack_outcome(result, study.planned.points[run.point].cores, options.keep_whole,
                      what_is_to_be_said(loaded.scenario, study.files, result));
}

json figures_json(const std::vector<StudyFigure>& figures) {
  json all = json::array();
  for (const StudyFigure& figure : figures) {
    json where = json::object();
    for (const Assignment& assignment : figure.where) {
      json labels = json::array();
      if (assignment.value.kind == YamlNode::Kind::list) {
        for (const YamlNode& label : assignment.value.items) labels.push_back(label.text);
      } else {
        labels.push_back(assignment.value.text);
      }
      where[assignment.path] = std::move(labels);
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

}  // namespace

LoadedScenario PreparedStudy::scenario(std::size_t point) const {
  Problems problems;
  LoadedScenario loaded = plan.scenario(plan.points[point], problems);
  check(!problems.has_errors(), "a combination that was checked is sound");
  return loaded;
}

PlannedPoint planned_point(const LoadedScenario& loaded, InputFiles& files, ProfileUse use) {
  const Scenario& scenario = loaded.scenario;
  PlannedPoint point;
  point.name = scenario.name;
  point.digest = scenario_digest(loaded, files, use == ProfileUse::drawn);
  point.replications = scenario.replications;
  point.seed = scenario.seed;
  for (const Worker& worker : scenario.cluster.workers) point.cores += worker.cores;
  point.target_accuracy = scenario.stop.accuracy;
  point.workload_epochs = scenario.stop.epochs;
  point.epoch_samples = scenario.job.dataset.train_samples;
  point.policy = policy_text(loaded);
  point.learning_rate = scenario.job.optimizer.learning_rate;
  point.momentum = scenario.job.optimizer.momentum;
  point.learns = scenario.learner.kind != LearnerKind::none;
  point.has_assumed_learner = scenario.learner.kind == LearnerKind::assumed;
  return point;
}

namespace {

void check_figures(const StudyPlan& plan) {
  const std::vector<std::string>& known = run_metric_names();
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

}  // namespace

PreparedStudy prepare_study(const std::filesystem::path& file, const std::vector<std::string>& overrides,
                            ProfileUse use) {
  PreparedStudy study;
  study.use = use;
  study.plan = load_study_plan(file, overrides, [&](std::size_t point, LoadedScenario& loaded) {
    const std::shared_ptr<const Profiles> profiles = study.files.profiles_of(loaded);
    for (std::string& note : check_before_running(loaded, *profiles, study.files))
      add_once(study.notes, std::move(note));
    if (use == ProfileUse::drawn) add_once(study.notes, check_drawing(loaded, *profiles));
    for (std::string& warning : loaded.warnings) add_once(study.warnings, std::move(warning));
    for (const ResolvedValue& value : loaded.values)
      study.expects = study.expects || (!value.is_absent && value.key.starts_with("expect."));
    if (loaded.scenario.learner.kind == LearnerKind::network) study.network_points.insert(point);
    if (point == 0) study.network_model = network_model_text(loaded.scenario.cluster.network.model);
    study.planned.points.push_back(planned_point(loaded, study.files, use));
  });
  check_figures(study.plan);
  study.planned.name = study.plan.name;
  study.planned.question = study.plan.question;
  study.planned.columns = study.plan.columns();
  study.planned.figures =
      figures_json(study.plan.figures).dump(-1, ' ', false, json::error_handler_t::replace);
  for (std::size_t i = 0; i < study.planned.points.size(); ++i)
    study.planned.points[i].labels = study.plan.labels(study.plan.points[i]);
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
  return stream_in_processes(
      runs.size(), {.jobs = options.jobs, .ends_after_mistake = false},
      [&](std::size_t i) { return simulate_packed(study, runs[i], options); },
      [&](std::size_t i, TaskOutcome outcome) {
        FinishedRun run;
        if (outcome.status == TaskStatus::done) {
          run = unpack_outcome(runs[i].id, outcome.output);
          run.packed_by = packed_by(options.recording);
        } else {
          run.id = runs[i].id;
          run.status = RunStatus::failed;
          run.message = outcome.output;
          ++failed;
        }
        store.record(run);
        ++finished;
        show();
      });
}

}  // namespace paceline

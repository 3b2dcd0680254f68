#include "plots/data/results.hpp"

#include <algorithm>
#include <map>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "sim/base/atomic_file.hpp"
#include "sim/base/csv.hpp"
#include "sim/base/diagnostic.hpp"

namespace paceline::plots {
namespace {

using nlohmann::json;
namespace fs = std::filesystem;

constexpr auto made_by_hint = "name a folder written by `paceline run` or `paceline study`";

json read_json(const fs::path& path) {
  try {
    return json::parse(read_file(path));
  } catch (const json::exception& broken) {
    throw UserError(fmt::format("{} is not valid JSON: {}", path.string(), broken.what()), made_by_hint);
  }
}

template <class Value>
Value required(const json& object, const char* key, const fs::path& path) {
  try {
    return object.at(key).get<Value>();
  } catch (const json::exception& broken) {
    throw UserError(fmt::format("{}: the key `{}` is missing or of the wrong kind: {}", path.string(), key,
                                broken.what()),
                    made_by_hint);
  }
}

// A key that must be present and holds a number or null.
std::optional<double> number_or_null(const json& object, const char* key, const fs::path& path) {
  const auto value = required<json>(object, key, path);
  if (value.is_null()) return std::nullopt;
  return required<double>(object, key, path);
}

json read_manifest(const fs::path& folder) {
  const fs::path path = folder / "manifest.json";
  std::error_code status;
  if (!fs::is_directory(folder, status))
    throw UserError(fmt::format("{} is not a folder", folder.string()), made_by_hint);
  if (!fs::exists(path, status))
    throw UserError(fmt::format("{} is no results folder: it has no manifest.json", folder.string()),
                    made_by_hint);
  json manifest = read_json(path);
  const auto format = required<std::string>(manifest, "format", path);
  if (format != "paceline-results" && format != "paceline-study")
    throw UserError(fmt::format("{}: unknown format `{}`", path.string(), format), made_by_hint);
  if (const auto version = required<int>(manifest, "version", path); version != 1)
    throw UserError(fmt::format("{}: version {} is not supported, only 1", path.string(), version),
                    "draw it with the paceline that wrote it");
  return manifest;
}

// What `read` makes of each row, which may be nothing. Some files are only there on request, or not in older
// results.
template <class Value>
std::vector<Value> read_rows(const fs::path& path, const std::vector<std::string>& columns,
                             bool may_be_missing, std::optional<Value> (*read)(const CsvRow& row)) {
  std::vector<Value> values;
  if (may_be_missing && !fs::exists(path)) return values;
  for (const CsvFile table(path, columns, results_csv()); const CsvRow& row : table.rows())
    if (std::optional<Value> value = read(row)) values.push_back(std::move(*value));
  return values;
}

bool is_first(const CsvRow& row) {
  return row.count("replication") == 0;
}

std::optional<BatchChange> batch_of(const CsvRow& row) {
  if (!is_first(row)) return std::nullopt;
  return BatchChange{row.number("time_s"), row.count("worker"), row.count("batch_samples")};
}

std::optional<WorkerActivity> activity_of(const CsvRow& row) {
  return WorkerActivity{row.count("worker"), row.text("activity"), row.number("begin_s"),
                        row.number("end_s")};
}

std::optional<IterationTime> iteration_of(const CsvRow& row) {
  const std::optional<double> finish_s = row.number_if_given("finish_s");
  if (!is_first(row) || !finish_s) return std::nullopt;
  return IterationTime{row.count("worker"), *finish_s - row.number("start_s")};
}

std::optional<WorkerUpdates> updates_of(const CsvRow& row) {
  const std::optional<double> rate = row.number_if_given("gradients_per_s");
  if (!is_first(row) || !rate) return std::nullopt;
  return WorkerUpdates{row.count("worker"), row.count("gradients"), *rate};
}

// Empty for a job that does not learn; one with a target must have been evaluated.
std::vector<LearningCurve> read_curves(const fs::path& path, bool has_target) {
  const CsvFile table(path, {"replication", "time_s", "accuracy"}, results_csv());
  if (table.rows().empty() && has_target)
    throw UserError(fmt::format("{} holds no evaluation", path.string()),
                    "run the scenario with an `evaluation`");
  std::map<std::uint64_t, std::vector<Evaluation>> by_replication;
  for (const CsvRow& row : table.rows()) {
    auto& curve = by_replication[row.count("replication")];
    const Evaluation next{row.number("time_s"), row.number("accuracy")};
    if (next.time_s < 0.0 || (!curve.empty() && next.time_s < curve.back().time_s))
      row.fail("time runs backwards");
    curve.push_back(next);
  }
  std::vector<LearningCurve> curves;
  for (auto& [replication, evaluations] : by_replication)
    curves.push_back({replication, std::move(evaluations)});
  return curves;
}

// Every figure names its runs: accuracies that nobody's runs stand behind say so wherever they are drawn.
std::string name_in_figures(const json& manifest, const fs::path& path) {
  const auto name = required<std::string>(manifest, "name", path);
  const json values = manifest.value("scenario", json::object());
  return values.value("learner.kind", "") == "assumed" ? with_assumed_learner(name) : name;
}

PlottedRun read_run(const fs::path& folder, const json& manifest) {
  PlottedRun run;
  run.folder = folder;
  run.name = name_in_figures(manifest, folder / "manifest.json");
  const fs::path path = folder / "summary.json";
  const json summary = read_json(path);
  run.target_accuracy = number_or_null(summary, "target_accuracy", path);
  run.replications = required<std::uint64_t>(summary, "replications", path);
  if (run.target_accuracy) {
    run.reached = required<std::uint64_t>(summary, "reached", path);
    const auto time = required<json>(summary, "time_to_accuracy_s", path);
    run.time_median_s = number_or_null(time, "median", path);
    run.time_low_s = number_or_null(time, "low", path);
    run.time_high_s = number_or_null(time, "high", path);
  }
  if (run.reached > run.replications)
    throw UserError(fmt::format("{}: {} of {} replications reached the target", path.string(), run.reached,
                                run.replications),
                    made_by_hint);
  // An interval without a low end has no high end either; one without a high end reaches past the horizon.
  if (run.time_high_s && (!run.time_low_s || *run.time_low_s > *run.time_high_s))
    throw UserError(
        fmt::format("{}: `low` and `high` of `time_to_accuracy_s` are no interval", path.string()),
        made_by_hint);

  const CsvFile ends(folder / "summary.csv", {"end_time_s"}, results_csv());
  for (const CsvRow& row : ends.rows()) {
    run.end_times_s.push_back(row.number("end_time_s"));
    if (!is_cut_short(ends, row)) run.work_times_s.push_back(run.end_times_s.back());
    run.horizon_s = std::max(run.horizon_s, run.end_times_s.back());
  }
  run.curves = read_curves(folder / "curve.csv", run.target_accuracy.has_value());
  run.batches = read_rows(folder / "batches.csv", {"replication", "time_s", "worker", "batch_samples"}, false,
                          batch_of);
  std::ranges::stable_sort(run.batches, {}, &BatchChange::time_s);
  run.activities =
      read_rows(folder / "activities.csv", {"worker", "activity", "begin_s", "end_s"}, true, activity_of);
  run.iterations = read_rows(folder / "iterations.csv", {"replication", "worker", "start_s", "finish_s"},
                             true, iteration_of);
  run.workers = read_rows(folder / "workers.csv", {"replication", "worker", "gradients", "gradients_per_s"},
                          true, updates_of);
  return run;
}

// Folder names of variants are sanitized, so variants are found by the name in their manifests.
std::vector<PlottedRun> read_study(const fs::path& folder, const json& study) {
  std::map<std::string, fs::path> by_name;
  for (const fs::directory_entry& entry : fs::directory_iterator(folder)) {
    if (!entry.is_directory() || !fs::exists(entry.path() / "manifest.json")) continue;
    const json manifest = read_manifest(entry.path());
    if (manifest.at("format") != "paceline-results") continue;
    const auto name = required<std::string>(manifest, "name", entry.path() / "manifest.json");
    if (const auto [twin, is_new] = by_name.emplace(name, entry.path()); !is_new)
      throw UserError(
          fmt::format("{} and {} are both named `{}`", twin->second.string(), entry.path().string(), name),
          "variants of a study need names of their own");
  }
  // A study of many combinations keeps its runs in one table, and has no folders.
  if (by_name.empty() && fs::exists(folder / "runs.csv")) return {};
  std::vector<PlottedRun> runs;
  for (const auto& name : required<std::vector<std::string>>(study, "variants", folder / "manifest.json")) {
    const auto found = by_name.find(name);
    if (found == by_name.end())
      throw UserError(fmt::format("{} holds no results of its variant `{}`", folder.string(), name),
                      "run the study again");
    runs.push_back(read_run(found->second, read_manifest(found->second)));
  }
  return runs;
}

}  // namespace

CsvRules results_csv() {
  return {.hint = "results are written by `paceline run` and `paceline study`; make them again"};
}

bool is_cut_short(const CsvFile& runs, const CsvRow& row) {
  if (!runs.has("end_reason")) return false;
  const std::string& reason = row.text("end_reason");
  return reason == "diverged" || reason == "stalled";
}

std::string with_assumed_learner(const std::string& name) {
  return name.empty() ? "assumed learner" : name + " (assumed learner)";
}

std::vector<PlottedRun> read_results(const fs::path& folder) {
  const json manifest = read_manifest(folder);
  if (manifest.at("format") == "paceline-study") return read_study(folder, manifest);
  std::vector<PlottedRun> runs;
  runs.push_back(read_run(folder, manifest));
  return runs;
}

}  // namespace paceline::plots
